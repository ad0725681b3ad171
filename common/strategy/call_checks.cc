#include "ringside/common/strategy/call_checks.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "ringside/common/base/errors.h"

namespace ringside {

void CallChecks::Start(const FlatSpace& space, const BucketPlan& plan) {
  if (phase_ != Phase::kNew) throw InternalError("Start was called twice");
  submitted_.assign(static_cast<std::size_t>(plan.buckets()), kNoStep);
  space_ = &space;
  plan_ = &plan;
  phase_ = Phase::kStarted;
}

void CallChecks::CheckIsIdle(std::string_view call) const {
  CheckIsStarted(call);
  if (under_way_ == 0) return;
  const auto first = std::ranges::find_if(submitted_, [](auto step) { return step != kNoStep; });
  throw InternalError(std::string(call) + " was called while bucket " +
                      std::to_string(first - submitted_.begin()) + ", step " +
                      std::to_string(*first) + " is under way; await it first");
}

void CallChecks::ReadOptimizerState() const { CheckIsStarted("ReadOptimizerState"); }

void CallChecks::Stop() {
  CheckIsStarted("Stop");
  phase_ = Phase::kStopped;
}

void CallChecks::CheckIsStarted(std::string_view call) const {
  if (phase_ == Phase::kStarted) return;
  throw InternalError(std::string(call) + " was called " + WhenText());
}

const char* CallChecks::WhenText() const {
  return phase_ == Phase::kNew ? "before the start" : "after the stop";
}

void CallChecks::RefuseEarlyOrLate(const Bucket& bucket) const {
  throw InternalError(BucketName(bucket) + " came " + WhenText());
}

void CallChecks::RefuseSecond(const Bucket& bucket, std::int64_t submitted) {
  throw InternalError(BucketName(bucket) + " is submitted already, for step " +
                      std::to_string(submitted) + "; await it first");
}

}  // namespace ringside
