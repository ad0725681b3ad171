#ifndef RINGSIDE_EXPERIMENTS_STATISTICS_BOOTSTRAP_H_
#define RINGSIDE_EXPERIMENTS_STATISTICS_BOOTSTRAP_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ringside/common/base/splitmix64.h"
#include "ringside/experiments/statistics/interval.h"

namespace ringside {

/// The fewest runs that get an interval. With three or four runs, a single run has too much weight
/// for an interval to mean anything.
inline constexpr std::size_t kMinimumRuns = 5;
inline constexpr int kResamples = 10'000;
inline constexpr double kConfidence = 0.95;

/// Uniform integers from a seed, equal on every machine and with every compiler. Uses SplitMix64
/// (Steele, Lea and Flood, 2014), mapped to a range by Lemire's multiplication.
class ResampleSource {
 public:
  explicit ResampleSource(std::uint64_t seed) : random_(seed) {}
  /// The next integer in [0, bound); bound > 0.
  std::size_t Below(std::size_t bound);

 private:
  SplitMix64 random_;
};

/// The middle 95 % of the values: their quantiles 0.025 and 0.975. `values` is not empty.
ConfidenceInterval PercentileInterval(std::vector<double> values);

/// Percentile bootstrap of the median (Efron and Tibshirani, "An Introduction to the Bootstrap",
/// 1993, chapter 13). It takes 10,000 resamples from a fixed seed, so equal samples have equal
/// intervals. It keeps the resamples of each sample size. Not thread-safe.
class MedianBootstrap {
 public:
  /// The interval of the median; absent with fewer than `kMinimumRuns` values.
  std::optional<ConfidenceInterval> IntervalOf(std::vector<double> values);

 private:
  /// The two positions in the sorted sample whose mean is the resample's median.
  using MedianPositions = std::pair<std::uint32_t, std::uint32_t>;
  const std::vector<MedianPositions>& MedianPositionsOf(std::size_t size);

  std::map<std::size_t, std::vector<MedianPositions>> median_positions_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_STATISTICS_BOOTSTRAP_H_
