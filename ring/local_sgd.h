#ifndef RINGSIDE_RING_LOCAL_SGD_H_
#define RINGSIDE_RING_LOCAL_SGD_H_

#include "ring/periodic_rule.h"

namespace ringside {

/// Local SGD (Stich, 2019): every H steps parameters become their average over the workers. The
/// optimizer's state stays each worker's own; a checkpoint holds worker 0's.
class LocalSgd : public PeriodicRule {
 public:
  using PeriodicRule::PeriodicRule;

 protected:
  std::span<float> BeginMeeting(const Bucket& bucket) override { return bucket.params; }
  void EndMeeting(const Bucket& bucket) override { Average(bucket.params); }
};

}  // namespace ringside

#endif  // RINGSIDE_RING_LOCAL_SGD_H_
