#ifndef RINGSIDE_RING_SHM_STRATEGY_H_
#define RINGSIDE_RING_SHM_STRATEGY_H_

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "common/measure/timeline.h"
#include "common/memory_region.h"
#include "common/strategy.h"
#include "common/strategy_entry.h"
#include "ring/share.h"
#include "ring/shm_collective.h"
#include "ring/shm_group.h"

namespace ringside {

/// Workers of one host agree in the memory they share. Every worker has a share of each bucket: it
/// sums the gradients of all workers there, applies the optimizer to the sum once, and writes the
/// new parameters to all workers. So N workers together do the work of one optimizer; its state is
/// cut into the same shares (Rajbhandari et al., "ZeRO", 2020, stage 1).
///
/// There is no communication thread: nothing is on a wire, the work is all memory traffic, and
/// where every core computes, a second thread a worker delays the gradient that the others wait
/// for. The caller updates its share of the buckets that are ready everywhere whenever it submits
/// or awaits one, in plan order.
///
/// Thread safety: one caller. The first failure is kept and thrown by every later call; this worker
/// then leaves its group, which fails the others.
class ShmStrategy : public Strategy {
 public:
  explicit ShmStrategy(const StrategyContext& context);

  /// `space` lies in shared memory; else throws `InternalError`.
  void Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) override;
  void Submit(const Bucket& bucket) override;
  void Await(const Bucket& bucket) override;
  /// Every worker lays its share of the optimizer's state open.
  void Settle() override;
  /// Of the last `Settle`.
  void ReadOptimizerState(std::span<float> out) override;
  void Stop() override;

 private:
  struct Slot {
    Bucket bucket;
    Timeline::Clock::time_point submitted;
    std::uint32_t turn = 0;  ///< How many buckets come up to it, in plan order and step by step.
    bool busy = false;
  };

  template <typename Steps>
  void Guard(const Steps& steps);
  void Connect(FlatSpace& space, const BucketPlan& plan, const StartPoint& from);
  void ShareState();
  void LayStateOpen();
  std::span<float> OpenState() const;

  /// Tells the others which gradients are final, up to the first bucket that is not submitted.
  void PostReady();
  /// Updates this worker's share of all buckets up to `turn`, and of those after it that need no
  /// wait.
  void Advance(std::uint32_t turn);
  void Update(const Slot& slot);
  void UpdateBlock(const Bucket& bucket, std::size_t begin, std::size_t size);
  /// This worker's share of a bucket.
  Share MineOf(const Bucket& bucket) const;

  StrategyContext context_;
  std::unique_ptr<ShmCollective> collective_;  // for what concerns no bucket
  std::unique_ptr<ShmGroup> group_;            // for the buckets' turns
  MemoryRegion state_;  // of the optimizer, in shared memory; empty when it has none
  const BucketPlan* plan_ = nullptr;
  const FlatSpace* space_ = nullptr;
  std::vector<float*> others_;  // scratch of `UpdateBlock`: where the block lies of every rank
  std::vector<float> sum_;      // likewise: its gradients' sum

  std::vector<Slot> slots_;
  std::uint32_t ready_ = 0;     // turns whose gradients this worker has made ready
  std::size_t next_ready_ = 0;  // the bucket whose turn comes then
  std::uint32_t done_ = 0;      // turns that it has done its share of
  std::size_t next_done_ = 0;
  std::exception_ptr failure_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_SHM_STRATEGY_H_
