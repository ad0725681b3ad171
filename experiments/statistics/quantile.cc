#include "ringside/experiments/statistics/quantile.h"

#include <algorithm>
#include <cmath>

namespace ringside {

double SortedQuantile(std::span<const double> sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = position - std::floor(position);
  // Values may be infinite (a run that never reached its target), so arithmetic could give NaN.
  if (weight == 0 || sorted[below] == sorted[above]) return sorted[below];
  return std::lerp(sorted[below], sorted[above], weight);
}

std::optional<double> Quantile(std::vector<double> values, double q) {
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  return SortedQuantile(values, q);
}

std::optional<double> Median(std::vector<double> values) {
  return Quantile(std::move(values), 0.5);
}

double MedianInPlace(std::vector<double>& values) {
  std::ranges::sort(values);
  return SortedQuantile(values, 0.5);
}

}  // namespace ringside
