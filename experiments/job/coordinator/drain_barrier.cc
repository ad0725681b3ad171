#include "ringside/experiments/job/coordinator/drain_barrier.h"

#include <algorithm>

#include "ringside/common/base/errors.h"

namespace ringside {

bool DrainBarrier::MayStart(std::int64_t step, const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  const auto decided = [this] { return !held_ || stop_step_ || broken_; };
  if (!changed_.wait_until(lock, deadline.at(), decided)) {
    throw CommError("coordinator", "agreeing on the last step before step " + std::to_string(step),
                    "no answer in time");
  }
  if (broken_) {
    throw CommError("coordinator", "starting step " + std::to_string(step), *broken_);
  }
  if (stop_step_ && step >= *stop_step_) return false;
  next_step_ = step + 1;
  return true;
}

std::int64_t DrainBarrier::Hold() {
  const std::lock_guard lock(mutex_);
  held_ = true;
  return next_step_;
}

void DrainBarrier::StopAt(std::int64_t step) {
  const std::lock_guard lock(mutex_);
  if (!stop_step_) stop_step_ = step;
  changed_.notify_all();
}

void DrainBarrier::Break(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  broken_ = reason;
  changed_.notify_all();
}

std::int64_t DrainBarrier::next_step() const {
  const std::lock_guard lock(mutex_);
  return next_step_;
}

std::optional<std::int64_t> StopAgreement::stop_step() const {
  for (int rank = 0; rank < workers_; ++rank) {
    if (!held_.contains(rank) && !dropped_.contains(rank)) return std::nullopt;
  }
  if (held_.empty()) return std::nullopt;
  return std::ranges::max_element(held_, {}, [](const auto& entry) { return entry.second; })
      ->second;
}

}  // namespace ringside
