#ifndef RINGSIDE_EXPERIMENTS_BENCH_BENCH_RUNNER_H_
#define RINGSIDE_EXPERIMENTS_BENCH_BENCH_RUNNER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/job/run_job.h"

namespace ringside {

/// One contender at one size in one round.
struct BenchSample {
  std::int64_t size = 0;         ///< Bytes.
  std::vector<double> times_us;  ///< Of each operation, as long as the slowest worker took.
  std::optional<std::int64_t> wrong;
  std::vector<std::string> notes{};  ///< What the strategy told of itself.
};

/// What one round of one contender came to. `outcome.summary` is without meaning.
struct BenchRound {
  JobOutcome outcome;
  std::vector<BenchSample> samples{};  ///< Empty on ranks that do not report.
  nlohmann::json network{};            ///< Of emulated hosts: network.json of its last job.
};

/// Who is timed: one of our strategies, or a peer.
struct BenchContender {
  std::string name;
  bool peer = false;
  int servers = 0;
  bool colocated = false;
  std::string transport = {};  ///< Between worker and server; empty without servers.
  std::string codec = {};      ///< Of gradients; empty: a peer, which has none.
  std::function<double(std::int64_t bytes)> bytes_per_nic{};  ///< Of the bus bandwidth.
  std::function<BenchRound()> run{};
};

/// One line of the result: a contender at a size, over all rounds.
struct BenchRow {
  std::size_t contender = 0;
  std::int64_t size = 0;
  std::vector<double> round_us{};  ///< The median of each round.
  double time_us = 0;              ///< Median over all operations.
  double p99_us = 0;
  double algbw_GBps = 0;
  double busbw_GBps = 0;
  std::optional<std::int64_t> wrong{};
  std::vector<std::string> notes{};  ///< Of each round, one after the other.
  bool best_peer = false;            ///< The fastest of bare Gloo's algorithms at this size.
};

struct BenchResult {
  std::vector<BenchRow> rows;  ///< By size, then in the order of the contenders.
  JobOutcome outcome;          ///< Done, or of the round that was not.
  nlohmann::json network{};    ///< Of the last round on emulated hosts.
  std::int64_t wrong() const;
};

/// Called before each round of a contender.
using BenchProgress = std::function<void(const BenchContender& contender, int round)>;

/// Runs all contenders once a round, in an order that is shuffled anew each round and the same on
/// all ranks of a job. Ends at the first round that is not done; its outcome then names the
/// contender.
BenchResult RunBench(const std::vector<BenchContender>& contenders, int rounds,
                     const BenchProgress& progress);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_BENCH_BENCH_RUNNER_H_
