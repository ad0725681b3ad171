// A strategy of its own: every rank gathers the gradients of all through the key-value store of the
// job.
#ifndef RINGSIDE_CONSUMER_OWN_STRATEGY_H_
#define RINGSIDE_CONSUMER_OWN_STRATEGY_H_

#include <ringside/common/core/deadline.h>
#include <ringside/common/strategy/strategy_entry.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

class GatheringStrategy : public ringside::Strategy {
 public:
  explicit GatheringStrategy(const ringside::StrategyContext& context) : context_(context) {}

  void Start(ringside::FlatSpace& space, const ringside::BucketPlan& plan,
             const ringside::StartPoint& from) override {
    submitted_.assign(static_cast<std::size_t>(plan.buckets()), -1);
    std::ranges::copy(from.optimizer_state, context_.optimizer.state().begin());
    const std::string first = Gather("start", space.params()).front();
    std::memcpy(space.params().data(), first.data(), first.size());
  }
  void Submit(const ringside::Bucket& bucket) override {
    submitted_[static_cast<std::size_t>(bucket.index)] = bucket.step;  // nothing that waits
  }
  void Await(const ringside::Bucket& bucket) override {
    const std::int64_t step = std::exchange(submitted_[static_cast<std::size_t>(bucket.index)], -1);
    if (step < 0) return;
    const auto all =
        Gather(std::to_string(step) + "/" + std::to_string(bucket.index), bucket.grads);
    std::ranges::fill(bucket.grads, 0.0F);
    std::vector<float> theirs(bucket.grads.size());
    for (const std::string& bytes : all) {
      std::memcpy(theirs.data(), bytes.data(), bytes.size());
      for (std::size_t i = 0; i < theirs.size(); ++i) bucket.grads[i] += theirs[i];
    }
    context_.optimizer.Apply(bucket.offset, bucket.params, bucket.grads,
                             {step + 1, context_.schedule.At(step)});
  }
  void ReadOptimizerState(std::span<float> out) override {
    std::ranges::copy(context_.optimizer.state(), out.begin());
  }
  void Stop() override {}

 private:
  std::vector<std::string> Gather(const std::string& name, std::span<const float> mine) const {
    const std::string_view bytes(reinterpret_cast<const char*>(mine.data()), mine.size_bytes());
    return ringside::StoreAllGather(context_.store, context_.world, "own/" + name, bytes,
                                    ringside::Deadline::After(context_.comm.timeout));
  }

  ringside::StrategyContext context_;
  std::vector<std::int64_t> submitted_;  // by bucket: the step under way, or -1
};

inline ringside::StrategyEntry OwnStrategy() {
  ringside::StrategyEntry entry;
  entry.name = "own-strategy";
  entry.summary = "gathers gradients through the store";
  entry.traits = {.family = ringside::Family::kRing, .topology = ringside::Topology::kAllReduce};
  entry.make = [](const ringside::StrategyContext& context) -> std::unique_ptr<ringside::Strategy> {
    return std::make_unique<GatheringStrategy>(context);
  };
  entry.bound = ringside::AllReduceCost;
  entry.transport = [](const ringside::StrategyOptions&, int, int) {
    return ringside::TransportUse{"tcp"};
  };
  return entry;
}

#endif  // RINGSIDE_CONSUMER_OWN_STRATEGY_H_
