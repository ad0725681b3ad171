#ifndef RINGSIDE_RING_BACKENDS_NCCL_NCCL_COLLECTIVE_H_
#define RINGSIDE_RING_BACKENDS_NCCL_NCCL_COLLECTIVE_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ringside/common/core/failure_latch.h"
#include "ringside/common/core/world.h"
#include "ringside/ring/core/collective.h"
#include "ringside/ring/core/collective_entry.h"
#include "ringside/ring/core/operation.h"

namespace ringside {

/// Sums with NCCL, with its own CUDA stream and event and a fixed algorithm. A rank uses the GPU of
/// its local rank. A bucket on that GPU (`BucketMessage::device`) is summed in place. One in host
/// memory is copied to the GPU and back, through memory that `Prepare` pinned.
///
/// NCCL works without blocking and is asked for errors while it does; an operation that takes
/// longer than its timeout is aborted. NCCL does not say who was missing.
class NcclCollective : public Collective {
 public:
  /// Throws `MissingBackendError` when the host has too few GPUs.
  explicit NcclCollective(const CollectiveContext& context);
  ~NcclCollective() override;

  /// Pins the vectors and makes room for the largest bucket on the GPU.
  void Prepare(const FlatSpace& space, const BucketPlan& plan) override;
  void AllReduceSum(const BucketMessage& message) override;
  void Broadcast(std::span<std::byte> data, int root) override;
  void AllGatherInto(std::span<const std::byte> mine, std::vector<std::byte>& all) override;
  /// Bytes given to NCCL; it does not report what it sends.
  Traffic traffic() const override { return traffic_; }
  std::string Notes() const override;

 private:
  class Device;

  template <typename Call>
  void Run(const Operation& operation, const Call& call);

  const World world_;
  const std::chrono::milliseconds timeout_;
  const bool shares_gpu_;
  std::unique_ptr<Device> device_;  // null after a failure
  FailureLatch failure_;
  Traffic traffic_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_BACKENDS_NCCL_NCCL_COLLECTIVE_H_
