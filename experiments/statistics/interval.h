#ifndef RINGSIDE_EXPERIMENTS_STATISTICS_INTERVAL_H_
#define RINGSIDE_EXPERIMENTS_STATISTICS_INTERVAL_H_

namespace ringside {

/// A 95 % confidence interval, unless said otherwise.
struct Interval {
  double low = 0;
  double high = 0;

  bool operator==(const Interval&) const = default;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_STATISTICS_INTERVAL_H_
