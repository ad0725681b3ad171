#ifndef RINGSIDE_EXPERIMENTS_STATISTICS_INTERVAL_H_
#define RINGSIDE_EXPERIMENTS_STATISTICS_INTERVAL_H_

namespace ringside {

/// A 95 % confidence interval, unless said otherwise.
struct ConfidenceInterval {
  double low = 0;
  double high = 0;

  bool operator==(const ConfidenceInterval&) const = default;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_STATISTICS_INTERVAL_H_
