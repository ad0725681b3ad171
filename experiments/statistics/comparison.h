#ifndef RINGSIDE_EXPERIMENTS_STATISTICS_COMPARISON_H_
#define RINGSIDE_EXPERIMENTS_STATISTICS_COMPARISON_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "ringside/experiments/statistics/interval.h"

namespace ringside {

/// Compares two sets of runs, A and B, by one number of each run.
struct Comparison {
  bool paired = false;          ///< By repetition and seed; false: every A with every B.
  std::size_t runs = 0;         ///< Pairs, or runs of the smaller set.
  std::optional<double> ratio;  ///< Median of A over median of B.
  std::optional<ConfidenceInterval>
      interval;  ///< Of the ratio, by bootstrap; absent with fewer than 5 runs.
  /// The probability that a run of A has a greater number than a run of B; ties count half. It is
  /// the share of the pairs, or of all combinations (Mann and Whitney's U over their number).
  std::optional<double> p_greater;
};

/// Compares runs in pairs: `a[i]` ran with `b[i]`. `a` and `b` have the same length. Resamples
/// pairs.
Comparison ComparePaired(std::span<const double> a, std::span<const double> b);

/// Compares runs that are not paired. Resamples each set by itself.
Comparison CompareIndependent(std::span<const double> a, std::span<const double> b);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_STATISTICS_COMPARISON_H_
