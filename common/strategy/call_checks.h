#ifndef RINGSIDE_COMMON_STRATEGY_CALL_CHECKS_H_
#define RINGSIDE_COMMON_STRATEGY_CALL_CHECKS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "ringside/common/core/bucket.h"
#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/flat_space.h"

namespace ringside {

/// Checks that a strategy is called as its contract says (strategy.h). A strategy asks it first in
/// every call, right after `FailureLatch::Check` and before `FailureLatch::Guard`. All of it throws
/// `InternalError` on misuse, names the bucket and its step where there is one, and changes nothing
/// then.
///
/// Borrows the space and the plan. Used by the caller's thread alone. Allocates in `Start` only.
class CallChecks {
 public:
  /// Refuses a second start.
  void Start(const FlatSpace& space, const BucketPlan& plan);
  /// Refuses a bucket that `MakeBucket` would not make, and one that is submitted already.
  void Submit(const Bucket& bucket) {
    std::int64_t& submitted = StepOf(bucket);
    if (submitted != kNoStep) RefuseSecond(bucket, submitted);
    submitted = bucket.step;
    ++under_way_;
  }
  /// Refuses a bucket that `MakeBucket` would not make. Returns the step with which it was
  /// submitted, and forgets that: the strategy now waits for it. Nothing: it is not submitted.
  std::optional<std::int64_t> Await(const Bucket& bucket) {
    std::int64_t& submitted = StepOf(bucket);
    if (submitted == kNoStep) return std::nullopt;
    const std::int64_t step = submitted;
    submitted = kNoStep;
    --under_way_;
    return step;
  }
  /// Refuses a bucket under way.
  void Settle() const { CheckIsIdle("Settle"); }
  void ReadOptimizerState() const;
  /// Refuses a bucket under way.
  void State() const { CheckIsIdle("State"); }
  /// Refuses all later calls.
  void Stop();

 private:
  enum class Phase { kNew, kStarted, kStopped };
  static constexpr std::int64_t kNoStep = std::numeric_limits<std::int64_t>::min();

  std::int64_t& StepOf(const Bucket& bucket) {
    if (phase_ != Phase::kStarted) RefuseEarlyOrLate(bucket);
    CheckBucket(bucket, *space_, *plan_);
    return submitted_[static_cast<std::size_t>(bucket.index)];
  }
  void CheckIsStarted(std::string_view call) const;
  void CheckIsIdle(std::string_view call) const;
  const char* WhenText() const;
  [[noreturn]] void RefuseEarlyOrLate(const Bucket& bucket) const;
  [[noreturn]] static void RefuseSecond(const Bucket& bucket, std::int64_t submitted);

  Phase phase_ = Phase::kNew;
  const FlatSpace* space_ = nullptr;
  const BucketPlan* plan_ = nullptr;
  std::vector<std::int64_t> submitted_;  // by bucket: the step that is under way, or kNoStep
  int under_way_ = 0;                    // submitted and not awaited
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRATEGY_CALL_CHECKS_H_
