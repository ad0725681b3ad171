#include "experiments/statistics/bootstrap.h"

#include <algorithm>
#include <numeric>

#include "experiments/statistics/quantile.h"

namespace ringside {
namespace {

constexpr std::uint64_t kSeed = 1;

}  // namespace

std::size_t ResampleSource::Below(std::size_t bound) {
  std::uint64_t bits = state_ += 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  bits ^= bits >> 31U;
  // The bias, of bound / 2^32, is far below the error of resampling.
  return static_cast<std::size_t>(((bits >> 32U) * bound) >> 32U);
}

ConfidenceInterval MiddleOf(std::vector<double> values) {
  std::ranges::sort(values);
  const double tail = (1 - kConfidence) / 2;
  return {SortedQuantile(values, tail), SortedQuantile(values, 1 - tail)};
}

// A resample's median depends on the places of what was drawn alone, so that all samples of one
// size share their resamples.
const std::vector<MedianBootstrap::Middle>& MedianBootstrap::MiddlesOf(std::size_t size) {
  std::vector<Middle>& middles = middles_[size];
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
  for (const auto& [low, high] : MiddlesOf(values.size())) {
    medians.push_back(std::midpoint(values[low], values[high]));
  }
  return MiddleOf(std::move(medians));
}

}  // namespace ringside
