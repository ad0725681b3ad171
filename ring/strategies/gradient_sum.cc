#include "ringside/ring/strategies/update_rule.h"

namespace ringside {
namespace {

class GradientSum : public UpdateRule {
 public:
  explicit GradientSum(const StrategyContext& context) : context_(context) {}

  FlatVector Contribute(const Bucket&, UpdateTrigger) override { return FlatVector::kGrads; }
  void Apply(const Bucket& bucket, UpdateTrigger) override {
    if (context_.caller_updates) return;
    context_.optimizer.Apply(bucket.offset, bucket.params, bucket.grads,
                             {bucket.step + 1, context_.schedule.At(bucket.step)});
  }

 private:
  StrategyContext context_;
};

}  // namespace

std::unique_ptr<UpdateRule> MakeGradientSum(const StrategyContext& context) {
  return std::make_unique<GradientSum>(context);
}

}  // namespace ringside
