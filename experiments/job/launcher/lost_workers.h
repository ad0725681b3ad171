#ifndef RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_LOST_WORKERS_H_
#define RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_LOST_WORKERS_H_

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ringside/experiments/job/coordinator/job_state.h"
#include "ringside/experiments/job/core/job_options.h"
#include "ringside/experiments/job/processes/child_group.h"
#include "ringside/experiments/job/summary/summary.h"
#include "ringside/experiments/spec/run_spec.h"
#include "ringside/experiments/system/output/console.h"

namespace ringside {

/// Whether a job of this spec goes on without a worker that it loses: `OnFailure::kShrink`, servers
/// that can drop a worker, and none of them inside a worker.
bool DropsLostWorkers(const RunSpec& spec, const JobOptions& options);

/// Lets a job go on without workers that died or fell silent. A worker is lost in this order:
///
/// 1. The coordinator refuses its calls, and its process is killed if it still runs.
/// 2. Each server drops it and says so. From then on no late push of it is applied.
/// 3. Nobody waits for it any more, at no barrier and in no evaluation.
///
/// A worker that can be lost is not worker 0, which writes the parameters and what it evaluates for
/// all, and it has begun to train. A server that has not dropped it in time makes the job fail,
/// because until then nobody may stop waiting for the worker. Used by one thread; borrows
/// everything.
class LostWorkers {
 public:
  struct Options {
    int workers = 1;
    int servers = 1;                     ///< They are dedicated.
    std::chrono::nanoseconds drop_time;  ///< That a server may need, in the machine's time.
  };

  LostWorkers(JobState& job_state, ChildGroup& children, const Options& options, Console& console)
      : job_state_(job_state), children_(children), options_(options), console_(console) {}

  /// A member has failed. True: the job goes on without it.
  bool Take(const Failure& failure);
  /// Ends all waits for workers that all servers have dropped. Blames a server that is late.
  void Look();
  /// Why the job cannot go on without this member; empty where nobody would expect it to.
  std::string WhyNot(const Failure& failure) const;
  /// In the order in which they were lost.
  const std::vector<LostWorker>& all() const { return all_; }

 private:
  struct Pending {
    int worker = 0;
    int notice = 0;
    std::chrono::steady_clock::time_point since;  // by `AwakeNow`
  };

  /// What all were doing when this worker was lost (`WaitJson`).
  nlohmann::json LastWords(const Member& lost) const;
  /// The first server that has not dropped the worker of a notice; -1: all have.
  int ServerThatHasNot(int notice) const;

  JobState& job_state_;
  ChildGroup& children_;
  const Options options_;
  Console& console_;
  std::vector<LostWorker> all_;
  std::vector<Pending> pending_;  // lost, but not yet dropped by all servers
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_LOST_WORKERS_H_
