#ifndef RINGSIDE_EXPERIMENTS_STATISTICS_QUANTILE_H_
#define RINGSIDE_EXPERIMENTS_STATISTICS_QUANTILE_H_

#include <optional>
#include <span>
#include <vector>

namespace ringside {

/// Quantile `q` in [0, 1] with linear interpolation between the two nearest values: type 7 of
/// Hyndman and Fan, "Sample Quantiles in Statistical Packages", 1996, which is numpy's default.
/// Absent without values.
std::optional<double> Quantile(std::vector<double> values, double q);

/// The same quantile of values that are already sorted; at least one value.
double SortedQuantile(std::span<const double> sorted, double q);

/// The quantile 1/2.
std::optional<double> Median(std::vector<double> values);
/// The same of at least one value. Sorts the values.
double MedianInPlace(std::vector<double>& values);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_STATISTICS_QUANTILE_H_
