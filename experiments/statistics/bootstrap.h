#ifndef RINGSIDE_EXPERIMENTS_STATISTICS_BOOTSTRAP_H_
#define RINGSIDE_EXPERIMENTS_STATISTICS_BOOTSTRAP_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "experiments/statistics/interval.h"

namespace ringside {

/// Fewer runs than these give points and no interval: a resample of three or four repeats one of
/// them too often to say anything about the others.
inline constexpr std::size_t kMinimumRuns = 5;
inline constexpr int kResamples = 10'000;
inline constexpr double kConfidence = 0.95;

/// Uniform integers from a seed, the same on every machine and with every compiler: SplitMix64
/// (Steele, Lea and Flood, 2014), mapped by Lemire's multiplication.
class ResampleSource {
 public:
  explicit ResampleSource(std::uint64_t seed) : state_(seed) {}
  /// In [0, bound), bound > 0.
  std::size_t Below(std::size_t bound);

 private:
  std::uint64_t state_;
};

/// The middle 95 % of the values: their quantiles 0.025 and 0.975. At least one value.
ConfidenceInterval MiddleOf(std::vector<double> values);

/// Percentile bootstrap (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter
/// 13) of the median: 10,000 resamples from a fixed seed, so that equal samples have equal
/// intervals. A value that remembers the resamples of each size; not for two threads at once.
class MedianBootstrap {
 public:
  /// Absent with fewer than `kMinimumRuns` values.
  std::optional<ConfidenceInterval> IntervalOf(std::vector<double> values);

 private:
  /// The two places in the sorted sample whose mean is the resample's median.
  using Middle = std::pair<std::uint32_t, std::uint32_t>;
  const std::vector<Middle>& MiddlesOf(std::size_t size);

  std::map<std::size_t, std::vector<Middle>> middles_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_STATISTICS_BOOTSTRAP_H_
