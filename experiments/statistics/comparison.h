#ifndef RINGSIDE_EXPERIMENTS_STATISTICS_COMPARISON_H_
#define RINGSIDE_EXPERIMENTS_STATISTICS_COMPARISON_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "experiments/statistics/interval.h"

namespace ringside {

/// Two sets of runs, A and B, by one number of each run.
struct Comparison {
  bool paired = false;          ///< By repetition and seed; otherwise each with each.
  std::size_t runs = 0;         ///< Pairs, or runs of the smaller set.
  std::optional<double> ratio;  ///< Median of A over median of B.
  std::optional<ConfidenceInterval>
      interval;  ///< Of the ratio, by bootstrap; absent with fewer than 5 runs.
  /// That a run of A has the greater number than one of B, ties count half: the share of the pairs,
  /// or of all combinations (Mann and Whitney's U over their number).
  std::optional<double> p_greater;
};

/// `a[i]` and `b[i]` ran as a pair. Resamples pairs. `a` and `b` have the same length.
Comparison ComparePaired(std::span<const double> a, std::span<const double> b);

/// Resamples each by itself.
Comparison CompareIndependent(std::span<const double> a, std::span<const double> b);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_STATISTICS_COMPARISON_H_
