#ifndef RINGSIDE_EXPERIMENTS_BENCH_PLAN_H_
#define RINGSIDE_EXPERIMENTS_BENCH_PLAN_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace ringside {

/// What one job of `ringside bench` times, beside the `RunSpec` that says under which strategy.
struct BenchPlan {
  std::vector<std::int64_t> sizes;  ///< Bytes of a vector of floats, ascending.
  int warmup = 5;                   ///< Operations of each size that are not timed.
  int iterations = 20;              ///< And that are.
  bool check = true;                ///< Compare sums of known integers afterwards.
};

/// The sizes from `smallest` by multiplication with `factor` up to `largest`, whole floats each.
/// Throws `ConfigError` when these are none, or a size is too small or too large to time.
std::vector<std::int64_t> BenchSizes(std::int64_t smallest, std::int64_t largest,
                                     std::int64_t factor);

void to_json(nlohmann::json& json, const BenchPlan& plan);
void from_json(const nlohmann::json& json, BenchPlan& plan);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_BENCH_PLAN_H_
