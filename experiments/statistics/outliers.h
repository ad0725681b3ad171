#ifndef RINGSIDE_EXPERIMENTS_STATISTICS_OUTLIERS_H_
#define RINGSIDE_EXPERIMENTS_STATISTICS_OUTLIERS_H_

#include <span>
#include <vector>

namespace ringside {

/// Marks the values that are more than 3.5 robust standard deviations (1.4826 x the median absolute
/// deviation) from the median: Iglewicz and Hoaglin, "How to Detect and Handle Outliers", 1993.
/// Marks none of fewer than five values, or when half of the values are equal.
std::vector<bool> Outliers(std::span<const double> values);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_STATISTICS_OUTLIERS_H_
