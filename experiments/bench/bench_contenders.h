#ifndef RINGSIDE_EXPERIMENTS_BENCH_BENCH_CONTENDERS_H_
#define RINGSIDE_EXPERIMENTS_BENCH_BENCH_CONTENDERS_H_

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/bench/bench_runner.h"
#include "experiments/bench_plan.h"
#include "experiments/run_spec.h"

namespace ringside {

/// `RunJob`, or `RunJoinedJob` for one rank of a job.
using BenchJob = std::function<JobOutcome(const RunSpec& spec, const JobOptions& options)>;

/// The strategies that a bench can time: those with a collective of their own and those with
/// servers.
std::vector<std::string_view> BenchStrategies();

/// Whether a bench times the bare sums of a strategy, and not its pushes and pulls.
bool IsCollective(std::string_view strategy);

/// How many jobs a round of one strategy takes.
int JobsOfRound(const RunSpec& spec, const BenchPlan& plan);

/// One strategy in jobs of real processes: one job a round, or one a size where servers hold the
/// vector. `directory` gets the jobs' bundles. `spec` is resolved.
BenchContender StrategyContender(const RunSpec& spec, const BenchPlan& plan,
                                 const JobOptions& options, const std::filesystem::path& directory,
                                 BenchJob job);

/// Why a peer is not among the contenders.
struct BenchSkipped {
  std::string name;
  std::string reason;
};

/// The peer that only copies: 2NM bytes of memory traffic, as a sum in shared memory needs at
/// least.
inline constexpr const char* kMemoryCopy = "memory-copy";

/// Bare Gloo with each of its algorithms, bare OpenMPI, and a plain copy of memory: programs that
/// are built beside `ringside`. Those that are missing end up in `skipped`.
std::vector<BenchContender> PeerContenders(int workers, const BenchPlan& plan,
                                           std::vector<BenchSkipped>& skipped);

/// 2(N-1)/N of a vector: what a worker sends at least in an all-reduce, as nccl-tests define it.
double AllReduceBytes(int workers, std::int64_t bytes);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_BENCH_BENCH_CONTENDERS_H_
