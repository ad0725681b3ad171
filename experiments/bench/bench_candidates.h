#ifndef RINGSIDE_EXPERIMENTS_BENCH_BENCH_CANDIDATES_H_
#define RINGSIDE_EXPERIMENTS_BENCH_BENCH_CANDIDATES_H_

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/experiments/bench/bench_runner.h"
#include "ringside/experiments/job/core/job_options.h"
#include "ringside/experiments/job/core/job_outcome.h"
#include "ringside/experiments/spec/bench_plan.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// The function that runs one job: `RunJob`, or `RunExternallyLaunchedRank` for one rank.
using BenchJob = std::function<JobOutcome(const RunSpec& spec, const JobOptions& options)>;

/// The strategies that a bench can time: those with their own collective and those with servers.
std::vector<std::string_view> BenchStrategies(const Catalog& catalog);

/// Whether a bench times only the sums of a strategy. Else it times pushes and pulls.
bool IsCollective(const Catalog& catalog, std::string_view strategy);

/// The number of jobs in one round of a strategy.
int JobsOfRound(const RunSpec& spec, const BenchPlan& plan);

/// A candidate that runs one strategy in jobs of real processes: one job per round, or one per size
/// where servers hold the vector. The bundles go to `directory`. `spec` is resolved.
BenchCandidate StrategyCandidate(const RunSpec& spec, const BenchPlan& plan,
                                 const JobOptions& options, const std::filesystem::path& directory,
                                 BenchJob job);

/// Reads "operations", "ms" and "steady" of a warm-up, as our workers and the peers write them.
WarmupReport ReadWarmup(const nlohmann::json& warmup);

/// A contender that was left out, with the reason.
struct BenchSkipped {
  std::string name;
  std::string reason;
};

/// The peer that only copies. It makes 2NM bytes of memory traffic, the least that a sum in shared
/// memory needs.
inline constexpr const char* kMemoryCopy = "memory-copy";

/// The peers: bare Gloo with each of its algorithms, bare MPI libraries, and a plain memory copy.
/// They are programs in the directory of `ringside`. Missing ones are added to `skipped`.
std::vector<BenchCandidate> PeerCandidates(int workers, const BenchPlan& plan,
                                           std::vector<BenchSkipped>& skipped);

/// The least bytes that a worker sends in an all-reduce: 2(N-1)/N of the vector, as in nccl-tests.
double AllReduceBytes(int workers, std::int64_t bytes);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_BENCH_BENCH_CANDIDATES_H_
