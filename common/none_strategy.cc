#include "common/none_strategy.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "common/errors.h"
#include "common/optim/optimizer.h"

namespace ringside {

void NoneStrategy::Start(FlatSpace& space, const BucketPlan&, const StartPoint& from) {
  space_ = &space;
  std::ranges::copy(from.optimizer_state, context_.optimizer.state().begin());
}

void NoneStrategy::Submit(const Bucket& bucket) {
  const auto offset = static_cast<std::size_t>(bucket.params.data() - space_->params().data());
  const ScopedSpan span(context_.timeline, SpanKind::kApply, bucket.step, bucket.index);
  context_.optimizer.Apply(offset, bucket.params, bucket.grads,
                           {bucket.step + 1, context_.schedule.At(bucket.step)});
}

void NoneStrategy::ReadOptimizerState(std::span<float> out) {
  std::ranges::copy(context_.optimizer.state(), out.begin());
}

namespace {

constexpr std::array kSenselessAlone{
    KeyReason{"codec", "every worker trains alone: no gradient travels"},
    KeyReason{"error-feedback", "no codec makes sense where no gradient travels"},
    KeyReason{"schedule", "every worker trains alone: no bucket is sent"},
};

}  // namespace

const StrategyEntry kNoneEntry{
    .name = "none",
    .family = Family::kNone,
    .summary = "no synchronisation: every worker trains alone (the ceiling)",
    .synchronous = false,
    .averaging = Averaging::kOwnBatch,
    .memory = MemoryKind::kOrdinary,
    .make = [](const StrategyContext& context) -> std::unique_ptr<Strategy> {
      return std::make_unique<NoneStrategy>(context);
    },
    .make_server = nullptr,
    .bound = NoCost,
    .senseless_keys = kSenselessAlone,
};

}  // namespace ringside
