#ifndef RINGSIDE_COMMON_TRAINING_READY_SHARES_H_
#define RINGSIDE_COMMON_TRAINING_READY_SHARES_H_

#include <cstdint>
#include <span>
#include <vector>

namespace ringside {

/// Counts when each bucket is ready, as a part of the backward pass: 0 is the beginning of the
/// pass, 1 its end. Allocates only at construction and in `Means`. For one thread.
class ReadyShares {
 public:
  explicit ReadyShares(int buckets);

  /// Adds a step. `compute_ms` is forward and backward pass without time inside calls of the
  /// strategy, `forward_ms` the forward pass's part of it. `submitted_ms` is for each bucket the
  /// compute done before its submit. A bucket that was submitted later is ready at the end. A step
  /// without a backward pass does not count.
  void AddStep(double forward_ms, double compute_ms, std::span<const double> submitted_ms);

  /// The mean over steps for each bucket; empty if no step counts.
  std::vector<double> Means() const;

 private:
  std::vector<double> sums_;
  std::int64_t steps_ = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_TRAINING_READY_SHARES_H_
