#include "ringside/common/training/ready_shares.h"

#include <algorithm>
#include <cstddef>

namespace ringside {

ReadyShares::ReadyShares(int buckets) : sums_(static_cast<std::size_t>(buckets)) {}

void ReadyShares::AddStep(double forward_ms, double compute_ms,
                          std::span<const double> submitted_ms) {
  const double backward_ms = compute_ms - forward_ms;
  if (backward_ms <= 0) return;
  for (std::size_t bucket = 0; bucket < sums_.size(); ++bucket) {
    sums_[bucket] += std::clamp((submitted_ms[bucket] - forward_ms) / backward_ms, 0.0, 1.0);
  }
  ++steps_;
}

std::vector<double> ReadyShares::Means() const {
  if (steps_ == 0) return {};
  std::vector<double> means = sums_;
  for (double& mean : means) mean /= static_cast<double>(steps_);
  return means;
}

}  // namespace ringside
