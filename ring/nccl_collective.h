#ifndef RINGSIDE_RING_NCCL_COLLECTIVE_H_
#define RINGSIDE_RING_NCCL_COLLECTIVE_H_

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/world.h"
#include "ring/collective.h"
#include "ring/collective_table.h"

namespace ringside {

/// NCCL on CUDA with a stream and an event of its own and the algorithm pinned. A rank takes the
/// GPU of its local rank. Gradients are in host memory, as the models of this version compute
/// there: each sum goes to the GPU and comes back, over memory that `Prepare` has pinned.
///
/// NCCL works without blocking and is asked for errors while it does; an operation that takes
/// longer than its timeout is aborted. NCCL does not say who was missing.
class NcclCollective : public Collective {
 public:
  /// Throws `MissingBackendError` when the host has too few GPUs.
  explicit NcclCollective(const CollectiveContext& context);
  ~NcclCollective() override;

  void Prepare(const FlatSpace& space, const BucketPlan& plan, std::int64_t first_step) override;
  void AllReduceSum(std::span<float> data, const std::string& what) override;
  void Broadcast(std::span<float> data, int root) override;
  std::vector<std::byte> AllGather(std::span<const std::byte> mine) override;
  /// The vectors handed to NCCL; what it makes of them, it does not tell.
  Traffic traffic() const override { return traffic_; }
  std::string Notes() const override;

 private:
  class Device;

  template <typename Call>
  void Run(const std::string& operation, const Call& call);

  const World world_;
  const std::chrono::milliseconds timeout_;
  const bool shares_gpu_;
  std::unique_ptr<Device> device_;  // null after a failure
  std::exception_ptr failure_;
  Traffic traffic_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_NCCL_COLLECTIVE_H_
