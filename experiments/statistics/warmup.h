#ifndef RINGSIDE_EXPERIMENTS_STATISTICS_WARMUP_H_
#define RINGSIDE_EXPERIMENTS_STATISTICS_WARMUP_H_

#include <cstddef>
#include <optional>
#include <span>

namespace ringside {

struct Warmup {
  /// Enough values for a judgement: at least 20.
  bool judged = false;
  /// The series settles within its first half.
  bool settled = false;
  /// First values to leave out; half of the batches where it did not settle.
  std::size_t length = 0;
};

/// MSER-5: the number of first values, in batches of five, without which the mean of the rest has
/// the smallest standard error, of the cuts within the first half. The last of these means that the
/// series had not settled there. White, "An effective truncation heuristic for bias reduction in
/// simulation output", Simulation 69(6), 1997; White, Cobb and Spratt, WSC 2000. O(n).
Warmup DetectWarmup(std::span<const double> values);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_STATISTICS_WARMUP_H_
