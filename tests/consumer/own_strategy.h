// A strategy of its own: every rank gathers the gradients of all through the key-value store of the
// job.
#ifndef RINGSIDE_CONSUMER_OWN_STRATEGY_H_
#define RINGSIDE_CONSUMER_OWN_STRATEGY_H_

#include <ringside/common/base/errors.h>
#include <ringside/common/core/failure_latch.h>
#include <ringside/common/strategy/call_checks.h>
#include <ringside/common/strategy/strategy_entry.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

class GatheringStrategy : public ringside::Strategy {
 public:
  explicit GatheringStrategy(const ringside::StrategyContext& context) : context_(context) {}

  void Start(ringside::FlatSpace& space, const ringside::BucketPlan& plan,
             const ringside::StartPoint& from) override {
    failure_.Check();
    calls_.Start(space, plan);
    failure_.Guard([&] {
      std::ranges::copy(from.optimizer_state, context_.optimizer.state().begin());
      Read(Gather("start", space.params()).front(), space.params());
    });
  }
  void Submit(const ringside::Bucket& bucket) override {
    failure_.Check();
    calls_.Submit(bucket);  // checks it and keeps its step; nothing that waits
  }
  void Await(const ringside::Bucket& bucket) override {
    failure_.Check();
    if (const auto step = calls_.Await(bucket)) failure_.Guard([&] { Finish(bucket, *step); });
  }
  void ReadOptimizerState(std::span<float> out) override {
    failure_.Check();
    std::ranges::copy(context_.optimizer.state(), out.begin());
  }
  void Stop() override {
    failure_.Check();
    calls_.Stop();
  }

 private:
  void Finish(const ringside::Bucket& bucket, std::int64_t step) {
    const std::string key = std::to_string(step) + "/" + std::to_string(bucket.index);
    const auto all = Gather(key, bucket.grads);
    std::ranges::fill(bucket.grads, 0.0F);
    std::vector<float> theirs(bucket.grads.size());
    for (const std::string& bytes : all) {
      Read(bytes, theirs);
      for (std::size_t i = 0; i < theirs.size(); ++i) bucket.grads[i] += theirs[i];
    }
    context_.optimizer.Apply(bucket.offset, bucket.params, bucket.grads,
                             {step + 1, context_.schedule.At(step)});
  }
  std::vector<std::string> Gather(const std::string& name, std::span<const float> mine) const {
    const std::string_view bytes(reinterpret_cast<const char*>(mine.data()), mine.size_bytes());
    return ringside::StoreAllGather(context_.store, context_.world, "own/" + name, bytes,
                                    ringside::Deadline::After(context_.comm.timeout));
  }
  static void Read(const std::string& bytes, std::span<float> out) {
    if (bytes.size() != out.size_bytes()) throw ringside::CommError("a rank", "gather", "odd size");
    std::memcpy(out.data(), bytes.data(), bytes.size());
  }

  ringside::StrategyContext context_;
  ringside::FailureLatch failure_;
  ringside::CallChecks calls_;
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
