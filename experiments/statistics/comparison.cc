#include "ringside/experiments/statistics/comparison.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ringside/experiments/statistics/bootstrap.h"
#include "ringside/experiments/statistics/quantile.h"

namespace ringside {
namespace {

constexpr std::uint64_t kSeed = 2;

std::optional<double> Ratio(std::span<const double> a, std::span<const double> b) {
  const std::optional<double> top = Median({a.begin(), a.end()});
  const std::optional<double> bottom = Median({b.begin(), b.end()});
  if (!top || !bottom) return std::nullopt;
  const double ratio = *top / *bottom;
  if (!std::isfinite(ratio)) return std::nullopt;
  return ratio;
}

double Won(double a, double b) {
  if (a == b) return 0.5;
  return a > b ? 1 : 0;
}

/// `draw(resample_a, resample_b)` fills both resamples.
template <typename Draw>
std::optional<ConfidenceInterval> RatioInterval(std::size_t size_a, std::size_t size_b,
                                                Draw&& draw) {
  std::vector<double> resample_a(size_a);
  std::vector<double> resample_b(size_b);
  std::vector<double> ratios;
  ratios.reserve(kResamples);
  for (int resample = 0; resample < kResamples; ++resample) {
    draw(resample_a, resample_b);
    const double ratio = MedianInPlace(resample_a) / MedianInPlace(resample_b);
    // A median of zero has no ratio. Leaving out such resamples would make the interval too narrow.
    if (!std::isfinite(ratio)) return std::nullopt;
    ratios.push_back(ratio);
  }
  return PercentileInterval(std::move(ratios));
}

}  // namespace

Comparison ComparePaired(std::span<const double> a, std::span<const double> b) {
  Comparison comparison;
  comparison.paired = true;
  comparison.runs = a.size();
  comparison.ratio = Ratio(a, b);
  if (a.empty()) return comparison;
  double won = 0;
  for (std::size_t i = 0; i < a.size(); ++i) won += Won(a[i], b[i]);
  comparison.p_greater = won / static_cast<double>(a.size());
  if (a.size() < kMinimumRuns) return comparison;
  ResampleSource source(kSeed);
  comparison.interval = RatioInterval(a.size(), b.size(), [&](auto& sample_a, auto& sample_b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::size_t pair = source.Below(a.size());
      sample_a[i] = a[pair];
      sample_b[i] = b[pair];
    }
  });
  return comparison;
}

Comparison CompareIndependent(std::span<const double> a, std::span<const double> b) {
  Comparison comparison;
  comparison.runs = std::min(a.size(), b.size());
  comparison.ratio = Ratio(a, b);
  if (comparison.runs == 0) return comparison;
  double won = 0;
  for (const double of_a : a) {
    for (const double of_b : b) won += Won(of_a, of_b);
  }
  comparison.p_greater = won / static_cast<double>(a.size() * b.size());
  if (comparison.runs < kMinimumRuns) return comparison;
  ResampleSource source(kSeed);
  comparison.interval = RatioInterval(a.size(), b.size(), [&](auto& sample_a, auto& sample_b) {
    for (double& value : sample_a) value = a[source.Below(a.size())];
    for (double& value : sample_b) value = b[source.Below(b.size())];
  });
  return comparison;
}

}  // namespace ringside
