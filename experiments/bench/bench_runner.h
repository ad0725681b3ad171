#ifndef RINGSIDE_EXPERIMENTS_BENCH_BENCH_RUNNER_H_
#define RINGSIDE_EXPERIMENTS_BENCH_BENCH_RUNNER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ringside/experiments/job/core/job_outcome.h"
#include "ringside/experiments/statistics/steady_warmup.h"

namespace ringside {

/// The times of one contender at one size in one round.
struct BenchSample {
  std::int64_t size = 0;         ///< Bytes.
  std::vector<double> times_us;  ///< Time of the slowest worker for each operation.
  std::optional<std::int64_t> wrong;
  std::vector<std::string> notes{};  ///< What the strategy reports about itself.
  WarmupReport warmup{};             ///< What ran before the timed operations.
};

/// The result of one round of one contender. `outcome.summary` has no meaning.
struct BenchRound {
  JobOutcome outcome;
  std::vector<BenchSample> samples{};      ///< Empty on ranks that do not report.
  nlohmann::json network{};                ///< network.json of its last job on emulated hosts.
  std::vector<nlohmann::json> fidelity{};  ///< `fidelity` of each job on emulated hosts.
};

/// The kind of a contender.
enum class BenchKind {
  kStrategy,    ///< A strategy of the catalog.
  kBareGloo,    ///< A peer: one algorithm of Gloo without Ringside.
  kBareMpi,     ///< A peer: an MPI library without Ringside.
  kMemoryCopy,  ///< A peer: no sum at all.
};

struct BenchCandidate {
  std::string name;
  BenchKind kind = BenchKind::kStrategy;
  int servers = 0;
  bool colocated = false;
  std::string transport = {};  ///< Between worker and server; empty without servers.
  std::string codec = {};      ///< Codec of gradients; empty for peers.
  std::function<double(std::int64_t bytes)> bytes_per_nic{};  ///< For the bus bandwidth.
  std::function<BenchRound()> run{};
};

/// One line of the result: a contender at a size, over all rounds.
struct BenchRow {
  std::size_t contender = 0;
  std::int64_t size = 0;
  std::vector<double> round_us{};  ///< The median of each round.
  double time_us = 0;              ///< Median of all operations.
  double p99_us = 0;
  double algorithm_gb_per_s = 0;  ///< size / time. 1 GB is 10^9 bytes.
  double bus_gb_per_s = 0;        ///< Bytes that one NIC sends or receives / time.
  std::optional<std::int64_t> wrong{};
  std::vector<std::string> notes{};  ///< The notes of all rounds, in order.
  WarmupReport
      warmup{};  ///< The longest warm-up of a round; steady only if that of each round was.
  bool best_peer = false;  ///< The fastest algorithm of bare Gloo at this size.
};

struct BenchResult {
  std::vector<BenchRow> rows;  ///< By size, then in the order of the contenders.
  JobOutcome outcome;          ///< Done, or the outcome of the round that was not done.
  nlohmann::json network{};    ///< network.json of the last round on emulated hosts.
  /// `fidelity` of each job on emulated hosts, with the name of its `strategy`.
  std::vector<nlohmann::json> fidelity{};
  std::int64_t wrong() const;
};

/// Called before each round of a contender.
using BenchProgress = std::function<void(const BenchCandidate& contender, int round)>;

/// Runs all contenders once per round. Each round has a new random order, which is the same on all
/// ranks of a job. Ends at the first round whose outcome is not done; that outcome then names the
/// contender.
BenchResult RunBench(const std::vector<BenchCandidate>& contenders, int rounds,
                     const BenchProgress& progress);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_BENCH_BENCH_RUNNER_H_
