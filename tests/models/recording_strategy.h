#ifndef RINGSIDE_TESTS_MODELS_RECORDING_STRATEGY_H_
#define RINGSIDE_TESTS_MODELS_RECORDING_STRATEGY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/flat_space.h"
#include "ringside/common/strategy/strategy.h"
#include "ringside/common/training/model.h"

namespace ringside {

/// Writes down what a model asks of a strategy and changes nothing; `on_submit` and `on_await` may
/// interfere.
class RecordingStrategy : public Strategy {
 public:
  struct Event {
    enum class Kind { kAwait, kSubmit };
    Kind kind;
    int bucket;
    std::int64_t step;
    bool operator==(const Event&) const = default;
  };

  void Start(FlatSpace&, const BucketPlan&, const StartPoint&) override {}
  void Submit(const Bucket& bucket) override {
    events.push_back({Event::Kind::kSubmit, bucket.index, bucket.step});
    if (on_submit) on_submit(bucket);
  }
  void Await(const Bucket& bucket) override {
    events.push_back({Event::Kind::kAwait, bucket.index, bucket.step});
    if (on_await) on_await(bucket);
  }
  void ReadOptimizerState(std::span<float>) override {}
  void Stop() override {}

  std::vector<int> Buckets(Event::Kind kind) const {
    std::vector<int> buckets;
    for (const Event& event : events)
      if (event.kind == kind) buckets.push_back(event.bucket);
    return buckets;
  }

  std::vector<Event> events;
  std::function<void(const Bucket&)> on_submit;
  std::function<void(const Bucket&)> on_await;
};

/// A model with a flat space and a plan of its own.
struct BoundModel {
  BoundModel(std::unique_ptr<Model> made, const BucketPlanOptions& plan_options)
      : model(std::move(made)), plan(model->Tensors(), plan_options), space(plan.elements()) {
    model->Bind(space, plan);
  }

  std::unique_ptr<Model> model;
  BucketPlan plan;
  FlatSpace space;
};

/// Every tensor alone in a bucket.
inline constexpr BucketPlanOptions kBucketATensor{.target_bytes = 0, .first_bytes = 0};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_MODELS_RECORDING_STRATEGY_H_
