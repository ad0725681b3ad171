#include <cstddef>

#include "ring/update_rule.h"

namespace ringside {
namespace {

class GradientSum : public UpdateRule {
 public:
  explicit GradientSum(const StrategyContext& context) : context_(context) {}

  void Start(const FlatSpace& space, const BucketPlan&) override {
    origin_ = space.params().data();
  }
  std::span<float> Contribute(const Bucket& bucket, Moment) override { return bucket.grads; }
  void Apply(const Bucket& bucket, Moment) override {
    const auto offset = static_cast<std::size_t>(bucket.params.data() - origin_);
    context_.optimizer.Apply(offset, bucket.params, bucket.grads,
                             {bucket.step + 1, context_.schedule.At(bucket.step)});
  }

 private:
  StrategyContext context_;
  const float* origin_ = nullptr;  // of the flat parameter vector
};

}  // namespace

std::unique_ptr<UpdateRule> MakeGradientSum(const StrategyContext& context) {
  return std::make_unique<GradientSum>(context);
}

}  // namespace ringside
