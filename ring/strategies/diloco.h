#ifndef RINGSIDE_RING_STRATEGIES_DILOCO_H_
#define RINGSIDE_RING_STRATEGIES_DILOCO_H_

#include <memory>
#include <vector>

#include "ringside/common/optim/optimizer.h"
#include "ringside/ring/strategies/periodic_rule.h"

namespace ringside {

inline constexpr RealOption kOuterLr{.name = "outer-lr",
                                     .placeholder = "X",
                                     .help = "diloco: outer learning rate",
                                     .default_value = 0.7,
                                     .least = 0,
                                     .above_least = true,
                                     .hint = "0 moves nothing"};
inline constexpr RealOption kOuterMomentum{.name = "outer-momentum",
                                           .placeholder = "X",
                                           .help = "diloco: outer Nesterov momentum",
                                           .default_value = 0.5,
                                           .least = 0,
                                           .most = 1,
                                           .below_most = true};

/// DiLoCo (Douillard et al., 2023). Every H steps the workers average how far their parameters have
/// moved. This mean is the "outer gradient". It updates the parameters from which all workers
/// started, by SGD with Nesterov's momentum (`kOuterLr`, `kOuterMomentum`). All workers continue
/// from the result. The inner optimizer is the run's. Each worker keeps its own state of it.
class Diloco : public PeriodicRule {
 public:
  explicit Diloco(const StrategyContext& context)
      : PeriodicRule(context),
        outer_lr_(context.options.Get(kOuterLr)),
        outer_momentum_(context.options.Get(kOuterMomentum)) {}

  void Start(const FlatSpace& space, const BucketPlan& plan) override;
  /// Also the parameters after the last synchronisation, and the outer momentum.
  std::vector<StateVector> State() override;

 protected:
  FlatVector BeginSync(const Bucket& bucket) override;
  void EndSync(const Bucket& bucket) override;

 private:
  double outer_lr_;
  double outer_momentum_;
  std::vector<float> origin_params_;  // the flat parameters after the last synchronisation
  std::unique_ptr<Optimizer> outer_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_STRATEGIES_DILOCO_H_
