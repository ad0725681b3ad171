#ifndef RINGSIDE_RING_STRATEGIES_LOCAL_SGD_H_
#define RINGSIDE_RING_STRATEGIES_LOCAL_SGD_H_

#include "ringside/ring/strategies/periodic_rule.h"

namespace ringside {

/// Local SGD (Stich, 2019): every H steps the parameters become their average over the workers.
/// Each worker keeps its own optimizer state.
class LocalSgd : public PeriodicRule {
 public:
  using PeriodicRule::PeriodicRule;

 protected:
  FlatVector BeginSync(const Bucket&) override { return FlatVector::kParams; }
  void EndSync(const Bucket& bucket) override { Average(bucket.params); }
};

}  // namespace ringside

#endif  // RINGSIDE_RING_STRATEGIES_LOCAL_SGD_H_
