#include "ringside/common/strategy/none_strategy.h"

#include "ringside/common/optim/optimizer.h"

namespace ringside {

void NoneStrategy::Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) {
  failure_.Check();
  calls_.Start(space, plan);
  context_.optimizer.LoadState(from.optimizer_state);
}

void NoneStrategy::Submit(const Bucket& bucket) {
  failure_.Check();
  calls_.Submit(bucket);
  if (context_.caller_updates) return;
  failure_.Guard([&] {
    const ScopedSpan span(context_.timeline, SpanKind::kApply, bucket.step, bucket.index);
    context_.optimizer.Apply(bucket.offset, bucket.params, bucket.grads,
                             {bucket.step + 1, context_.schedule.At(bucket.step)});
  });
}

void NoneStrategy::Await(const Bucket& bucket) {
  failure_.Check();
  calls_.Await(bucket);
}

void NoneStrategy::Settle() {
  failure_.Check();
  calls_.Settle();
}

std::vector<StateVector> NoneStrategy::State() {
  failure_.Check();
  calls_.State();
  return {};
}

void NoneStrategy::ReadOptimizerState(std::span<float> out) {
  failure_.Check();
  calls_.ReadOptimizerState();
  context_.optimizer.ReadState(out);
}

void NoneStrategy::Stop() {
  failure_.Check();
  calls_.Stop();
}

namespace {

StrategyEntry NoneEntry() {
  StrategyEntry entry;
  entry.name = "none";
  entry.summary = "no synchronisation: every worker trains alone (the ceiling)";
  entry.traits.agreement = Agreement::kNone;
  entry.traits.leaves_sums = true;
  entry.make = [](const StrategyContext& context) -> std::unique_ptr<Strategy> {
    return std::make_unique<NoneStrategy>(context);
  };
  entry.device_use = [](const StrategyOptions&) { return DeviceUse::kBuckets; };
  entry.rejected_keys = {{"codec", "every worker trains alone: no gradient travels"},
                         {"error-feedback", "no codec makes sense where no gradient travels"},
                         {"schedule", "every worker trains alone: no bucket is sent"}};
  return entry;
}

}  // namespace

const StrategyEntry kNoneEntry = NoneEntry();

}  // namespace ringside
