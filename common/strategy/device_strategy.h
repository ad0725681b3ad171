#ifndef RINGSIDE_COMMON_STRATEGY_DEVICE_STRATEGY_H_
#define RINGSIDE_COMMON_STRATEGY_DEVICE_STRATEGY_H_

#include <vector>

#include "ringside/common/strategy/device_vectors.h"
#include "ringside/common/strategy/strategy_decorator.h"
#include "ringside/common/strategy/strategy_traits.h"

namespace ringside {

/// Puts any strategy between workers whose model computes on a GPU. The model submits and awaits
/// the buckets of the `FlatSpace`; this class gives the inner strategy the buckets on the GPU, or
/// copies what it needs on the host (`DeviceUse`).
///
/// After `Start` the GPU has the parameters with which all workers begin. After `Settle` host
/// memory has the current ones. Borrows both. Used by the caller's thread alone.
class DeviceStrategy : public StrategyDecorator {
 public:
  /// `rank` is named where a gradient is not finite.
  DeviceStrategy(Strategy& inner, DeviceVectors& vectors, DeviceUse use, int rank);

  void Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) override;
  /// With `DeviceUse::kBuckets`, throws `DivergedError` on a gradient that is not finite. The
  /// others have it in host memory, where `FiniteGradientsStrategy` looks.
  void Submit(const Bucket& bucket) override;
  void Await(const Bucket& bucket) override;
  void Settle() override;

 private:
  Bucket ForInner(const Bucket& bucket) const;

  DeviceVectors& vectors_;
  const DeviceUse use_;
  const int rank_;
  std::vector<char> submitted_;  // by bucket: its parameters on the GPU are older than the host's
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRATEGY_DEVICE_STRATEGY_H_
