#include "ringside/experiments/statistics/bootstrap.h"

#include <algorithm>
#include <numeric>

#include "ringside/experiments/statistics/quantile.h"

namespace ringside {
namespace {

constexpr std::uint64_t kSeed = 1;

}  // namespace

std::size_t ResampleSource::Below(std::size_t bound) {
  // The bias is at most bound / 2^32, far below the error of resampling.
  return static_cast<std::size_t>(((random_.Next() >> 32U) * bound) >> 32U);
}

ConfidenceInterval PercentileInterval(std::vector<double> values) {
  std::ranges::sort(values);
  const double tail = (1 - kConfidence) / 2;
  return {SortedQuantile(values, tail), SortedQuantile(values, 1 - tail)};
}

// The median of a resample depends only on which positions of the sorted sample were drawn. So all
// samples of one size share their resamples.
const std::vector<MedianBootstrap::MedianPositions>& MedianBootstrap::MedianPositionsOf(
    std::size_t size) {
  std::vector<MedianPositions>& middles = median_positions_[size];
  if (!middles.empty()) return middles;
  ResampleSource source(kSeed);
  std::vector<std::uint32_t> drawn(size);
  middles.reserve(kResamples);
  for (int resample = 0; resample < kResamples; ++resample) {
    for (std::uint32_t& place : drawn) place = static_cast<std::uint32_t>(source.Below(size));
    std::ranges::sort(drawn);
    middles.emplace_back(drawn[(size - 1) / 2], drawn[size / 2]);
  }
  return middles;
}

std::optional<ConfidenceInterval> MedianBootstrap::IntervalOf(std::vector<double> values) {
  if (values.size() < kMinimumRuns) return std::nullopt;
  std::ranges::sort(values);
  std::vector<double> medians;
  medians.reserve(kResamples);
  for (const auto& [low, high] : MedianPositionsOf(values.size())) {
    medians.push_back(std::midpoint(values[low], values[high]));
  }
  return PercentileInterval(std::move(medians));
}

}  // namespace ringside
