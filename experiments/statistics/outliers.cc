#include "ringside/experiments/statistics/outliers.h"

#include <cmath>

#include "ringside/experiments/statistics/quantile.h"

namespace ringside {
namespace {

constexpr std::size_t kMinimumValues = 5;
constexpr double kFarAway = 3.5;
constexpr double kNormalFactor = 1.4826;  // standard deviation / MAD of a normal distribution

}  // namespace

std::vector<bool> Outliers(std::span<const double> values) {
  std::vector<bool> outliers(values.size(), false);
  if (values.size() < kMinimumValues) return outliers;
  std::vector<double> sorted(values.begin(), values.end());
  const double median = MedianInPlace(sorted);
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::abs(value - median));
  sorted = deviations;
  const double scale = kNormalFactor * MedianInPlace(sorted);
  if (scale <= 0) return outliers;
  for (std::size_t i = 0; i < values.size(); ++i) outliers[i] = deviations[i] > kFarAway * scale;
  return outliers;
}

}  // namespace ringside
