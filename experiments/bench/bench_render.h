#ifndef RINGSIDE_EXPERIMENTS_BENCH_BENCH_RENDER_H_
#define RINGSIDE_EXPERIMENTS_BENCH_BENCH_RENDER_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/bench/bench_contenders.h"
#include "experiments/bench/bench_runner.h"

namespace ringside {

/// What was asked for, beside the result.
struct BenchSetting {
  int workers = 1;
  int rounds = 1;
  BenchPlan plan;
  std::vector<BenchContender> contenders;
  std::vector<BenchSkipped> skipped;
};

/// For people, in the manner of nccl-tests: what the columns mean, then a line a contender and
/// size. Pure.
std::string RenderBench(const BenchSetting& setting, const BenchResult& result);

/// {schema, rows: [{strategy, workers, size, time_us, p99_us, algbw_GBps, busbw_GBps, wrong,
/// ...}]}, sizes in bytes; `wrong` is null where nothing was compared. Pure.
nlohmann::json BenchJson(const BenchSetting& setting, const BenchResult& result);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_BENCH_BENCH_RENDER_H_
