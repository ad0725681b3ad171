#ifndef RINGSIDE_EXPERIMENTS_SPEC_BENCH_PLAN_H_
#define RINGSIDE_EXPERIMENTS_SPEC_BENCH_PLAN_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

namespace ringside {

/// What one job of `ringside bench` times. The strategy is in the `RunSpec`.
struct BenchPlan {
  std::vector<std::int64_t> sizes;  ///< Bytes of each vector of floats, ascending.
  std::optional<int> warmup{};      ///< Untimed operations of each size; empty: until steady.
  int iterations = 20;              ///< Timed operations of each size.
  bool check = true;                ///< Afterwards compare sums of known integers.
  bool on_device = false;           ///< The vectors lie in the memory of GPUs.
};

/// The sizes `smallest`, `smallest` x `factor` and so on up to `largest`, each a whole number of
/// floats. Throws `ConfigError` when there is no such size, or one is too small or large to time.
std::vector<std::int64_t> BenchSizes(std::int64_t smallest, std::int64_t largest,
                                     std::int64_t factor);

void to_json(nlohmann::json& json, const BenchPlan& plan);
void from_json(const nlohmann::json& json, BenchPlan& plan);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SPEC_BENCH_PLAN_H_
