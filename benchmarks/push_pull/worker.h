#ifndef RINGSIDE_BENCHMARKS_PUSH_PULL_WORKER_H_
#define RINGSIDE_BENCHMARKS_PUSH_PULL_WORKER_H_

#include <sys/types.h>

#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/directory_store.h"
#include "benchmarks/peers/bytes_push_pull.h"
#include "benchmarks/peers/sockets_push_pull.h"
#include "benchmarks/push_pull/job.h"
#include "benchmarks/push_pull/settings.h"
#include "benchmarks/push_pull/shared.h"
#include "ringside/common/core/flat_space.h"

namespace ringside::push_pull {

/// One worker process. It runs all contenders in turn in every round. Rank 0 prints a line for each
/// contender and stores their ratios in `shared`.
class Worker {
 public:
  /// `servers` are the processes whose CPU time counts.
  Worker(const Settings& settings, int rank, const std::filesystem::path& directory, Shared& shared,
         const std::vector<pid_t>& servers);

  void Run();

 private:
  struct Sample {
    double ms = 0;
    double cpu_ms = 0;
  };
  struct Contender {
    std::string name;
    std::function<void()> step;
    std::vector<Sample> samples{};
  };

  void AddJob(const std::string& transport);
  void AddPeers();
  Sample Time(const std::function<void()>& step);
  void Summarise(Contender& contender) const;
  void Compare() const;
  const Contender* Find(const std::string& name) const;
  double CpuMilliseconds() const;

  static std::vector<double> Column(const std::vector<Sample>& samples, double Sample::*field);
  /// The median of the rounds' ratios, so that a slow phase of the machine affects both sides; 0 if
  /// one is missing.
  static double MedianRatio(const Contender* one, const Contender* other, double Sample::*field);

  const Settings& settings_;
  const int rank_;
  const std::filesystem::path directory_;
  Shared& shared_;
  std::vector<pid_t> processes_;
  std::deque<DirectoryStore> stores_;                 // one per job
  std::map<std::string, std::unique_ptr<Job>> jobs_;  // by transport
  FlatSpace plain_;                                   // of the peers
  std::unique_ptr<BytesWorker> bytes_;
  std::unique_ptr<SocketsWorker> sockets_;
  std::vector<Contender> contenders_;
};

}  // namespace ringside::push_pull

#endif  // RINGSIDE_BENCHMARKS_PUSH_PULL_WORKER_H_
