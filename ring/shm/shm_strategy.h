#ifndef RINGSIDE_RING_SHM_SHM_STRATEGY_H_
#define RINGSIDE_RING_SHM_SHM_STRATEGY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ringside/common/base/memory_region.h"
#include "ringside/common/core/failure_latch.h"
#include "ringside/common/measure/timeline.h"
#include "ringside/common/strategy/call_checks.h"
#include "ringside/common/strategy/strategy.h"
#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/ring/shm/shm_collective.h"
#include "ringside/ring/shm/shm_group.h"
#include "ringside/ring/shm/shm_spaces.h"

namespace ringside {

/// Sums gradients in shared memory, among the workers of one host. Every worker owns one chunk of
/// each bucket. It sums the gradients of all workers in its chunk, applies the optimizer to the sum
/// once, and writes the new parameters to all workers. So N workers together do the work of one
/// optimizer. The optimizer's state is cut into the same chunks (Rajbhandari et al., "ZeRO", 2020,
/// stage 1).
///
/// There is no communication thread. All the work is memory traffic. Where every core computes, a
/// second thread per worker would delay the gradients that the others wait for. `Submit` updates
/// this worker's chunk of the buckets that are ready on all workers, in plan order. It does not
/// wait. `Await` waits.
///
/// Thread safety: one caller. The first failure is kept, and every later call throws it. This
/// worker then leaves its group, so the others fail too. A call against the contract is no failure.
class ShmStrategy : public Strategy {
 public:
  explicit ShmStrategy(const StrategyContext& context);

  /// Throws `InternalError` unless `space` is in shared memory.
  void Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) override;
  void Submit(const Bucket& bucket) override;
  void Await(const Bucket& bucket) override;
  /// Every worker publishes its chunk of the optimizer's state to the others.
  void Settle() override;
  /// Reads the state as of the last `Settle`.
  void ReadOptimizerState(std::span<float> out) override;
  std::vector<StateVector> State() override;
  void Stop() override;

 private:
  struct Slot {
    Bucket bucket;
    Timeline::Clock::time_point submitted;
    std::uint32_t turn = 0;  ///< Number of buckets up to this one, over all steps.
    bool busy = false;
  };

  template <typename Steps>
  void Guard(const Steps& steps);
  void Finish(Slot& slot);
  void Connect(FlatSpace& space, const BucketPlan& plan, const StartPoint& from);
  void ShareState();
  void PublishState();
  std::span<float> OpenState() const;

  /// Publishes which gradients are final, up to the first bucket that is not submitted.
  void PostReady();
  /// Updates this worker's chunk of all buckets up to `turn`, and of later ones that are ready.
  void Advance(std::uint32_t turn);
  void Update(const Slot& slot);
  /// Adds what `Update` did since `begin` to the timeline.
  void Record(const Bucket& bucket, const CacheAlignedChunk& chunk,
              Timeline::Clock::time_point begin);
  void UpdateBlock(const Bucket& bucket, std::size_t begin, std::size_t size);
  /// This worker's chunk of a bucket.
  CacheAlignedChunk MineOf(const Bucket& bucket) const;

  StrategyContext context_;
  std::unique_ptr<ShmCollective> collective_;  // for all but the buckets' turns
  std::unique_ptr<ShmGroup> group_;            // for the buckets' turns
  MemoryRegion state_;  // optimizer state in shared memory; empty when it has none
  const BucketPlan* plan_ = nullptr;
  const FlatSpace* space_ = nullptr;
  std::vector<float*> others_;  // scratch of `UpdateBlock`: the block's address on every rank
  std::vector<float> sum_;      // scratch of `UpdateBlock`: the sum of the block's gradients

  std::vector<Slot> slots_;
  std::uint32_t ready_ = 0;     // turns whose gradients this worker has made ready
  std::size_t next_ready_ = 0;  // the bucket after those turns
  std::uint32_t done_ = 0;      // turns whose chunk this worker has updated
  std::size_t next_done_ = 0;
  CallChecks calls_;
  FailureLatch failure_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_SHM_SHM_STRATEGY_H_
