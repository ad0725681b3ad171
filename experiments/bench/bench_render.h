#ifndef RINGSIDE_EXPERIMENTS_BENCH_BENCH_RENDER_H_
#define RINGSIDE_EXPERIMENTS_BENCH_BENCH_RENDER_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ringside/experiments/bench/bench_candidates.h"
#include "ringside/experiments/bench/bench_runner.h"

namespace ringside {

/// The settings of a bench, shown with its result.
struct BenchSetting {
  int workers = 1;
  int rounds = 1;
  BenchPlan plan;
  std::vector<BenchCandidate> contenders;
  std::vector<BenchSkipped> skipped;
};

/// The result as text for people, in the style of nccl-tests: the meaning of the columns, then one
/// line per contender and size. A pure function.
std::string RenderBench(const BenchSetting& setting, const BenchResult& result);

/// {schema, rows: [{strategy, workers, size, time_us, p99_us, algbw_GBps, busbw_GBps, wrong,
/// warmup_operations, warmup_ms, steady, ...}]}. Sizes are in bytes. `wrong` is null when nothing
/// was compared, `steady` when the number of warm-up operations was given. A pure function.
nlohmann::json BenchJson(const BenchSetting& setting, const BenchResult& result);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_BENCH_BENCH_RENDER_H_
