#ifndef RINGSIDE_RING_STRATEGIES_ALL_REDUCE_STRATEGY_H_
#define RINGSIDE_RING_STRATEGIES_ALL_REDUCE_STRATEGY_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "ringside/common/core/failure_latch.h"
#include "ringside/common/measure/timeline.h"
#include "ringside/common/strategy/call_checks.h"
#include "ringside/common/strategy/strategy.h"
#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/ring/core/collective.h"
#include "ringside/ring/strategies/update_rule.h"

namespace ringside {

/// Sums buckets over all workers and updates parameters as its rule says. Without a rule, it sums
/// gradients and applies the worker's own optimizer. Works with any `Collective`.
///
/// One communication thread sums bucket by bucket, in the same order on all ranks, whatever the
/// order of submission. With `SendOrder::kFifo` that is plan order, which needs no message. With
/// `kPriority`, before every sum worker 0 broadcasts (in four bytes) the most urgent of its waiting
/// buckets, and all ranks sum that one. Sums go before updates, so that links do not idle. The
/// communication thread applies updates of summed buckets when no other bucket is submitted. The
/// caller applies them in `Await`.
///
/// Thread safety: one caller. It shares the table of slots with the communication thread, under one
/// mutex. The collective belongs to the caller until `Start` returns and after `Stop` has joined.
/// In between it belongs to the communication thread while a bucket is submitted. A failure on
/// either thread is kept, and every later call throws it again. The collective is destroyed
/// immediately, so that the peers notice.
class AllReduceStrategy : public Strategy {
 public:
  using Connect = std::function<std::unique_ptr<Collective>()>;

  /// `connect` is called by `Start`; it may wait for the other workers.
  AllReduceStrategy(const StrategyContext& context, Connect connect);
  AllReduceStrategy(const StrategyContext& context, Connect connect,
                    std::unique_ptr<UpdateRule> rule);
  /// If `Stop` was not called, waits for the current bucket, at most for the operation's timeout.
  ~AllReduceStrategy() override;

  void Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) override;
  void Submit(const Bucket& bucket) override;
  void Await(const Bucket& bucket) override;
  void Settle() override;
  void ReadOptimizerState(std::span<float> out) override;
  std::vector<StateVector> State() override;
  void Stop() override;

 private:
  enum class Phase { kIdle, kSubmitted, kSummed, kApplying };
  struct Slot {
    Bucket bucket;
    Timeline::Clock::time_point submitted;
    Phase phase = Phase::kIdle;
    UpdateRule::UpdateTrigger trigger = UpdateRule::UpdateTrigger::kStep;
  };
  /// A queue of slots. A slot is in it at most once. Allocates only in `MakeRoom`.
  class SlotQueue {
   public:
    void MakeRoom(std::size_t slots) { indices_.resize(slots); }
    bool empty() const { return count_ == 0; }
    void Push(std::size_t index) { indices_[(first_ + count_++) % indices_.size()] = index; }
    std::size_t Pop() {
      const std::size_t index = indices_[first_];
      first_ = (first_ + 1) % indices_.size();
      --count_;
      return index;
    }

   private:
    std::vector<std::size_t> indices_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
  };

  void Agree(FlatSpace& space, const BucketPlan& plan, const StartPoint& from);
  /// Runs `steps` of the caller's thread. Keeps what they throw and wakes all waiting threads.
  template <typename Steps>
  void Guard(const Steps& steps);
  /// Of a bucket that is idle. `mutex_` is locked.
  void Enqueue(const Bucket& bucket, UpdateRule::UpdateTrigger trigger);
  void WaitFor(std::size_t index, std::unique_lock<std::mutex>& lock);
  /// Keeps the current exception if it is the first, and wakes all waiting threads.
  void KeepFailure();
  void Join();

  /// Applies the update of the bucket that was summed first. Releases `lock` during the update.
  void ApplyOne(std::unique_lock<std::mutex>& lock, int lane);

  // On the communication thread.
  void Communicate();
  void SumInOrder();
  /// Sets `next_` if it is not set. Leaves it unset when the choice needs another submitted bucket.
  /// Releases `lock` while ranks exchange messages.
  void AgreeOnNext(std::unique_lock<std::mutex>& lock);
  /// Returns the most urgent submitted slot. Of those of the oldest step it is the last in plan
  /// order, because the next forward pass reads it first.
  std::optional<std::size_t> MostUrgent() const;
  /// Broadcasts worker 0's choice and returns it. `mine` is this rank's own choice.
  std::size_t BroadcastLeaderChoice(std::size_t mine);
  /// Runs `operation` and records the bytes that it moved.
  template <typename Call>
  void Counted(const Call& operation);
  void SumSlot(std::size_t index, std::unique_lock<std::mutex>& lock);
  void Sum(const Slot& slot);

  StrategyContext context_;
  Connect connect_;
  std::unique_ptr<UpdateRule> rule_;
  std::unique_ptr<Collective> collective_;
  const FlatSpace* space_ = nullptr;
  const BucketPlan* plan_ = nullptr;
  CallChecks calls_;             // used by the caller alone
  std::int64_t last_step_ = -1;  // last submitted step; used by the caller alone

  // Used by the communication thread alone.
  std::optional<std::size_t> next_;  // bucket that all ranks sum next; none: not yet agreed
  std::size_t sums_ = 0;             // number of sums agreed so far

  mutable std::mutex mutex_;
  std::condition_variable submitted_;  // a slot was submitted, or the thread has to end
  std::condition_variable advanced_;   // a slot was summed or applied, or the thread has failed
  std::vector<Slot> slots_;            // guarded by mutex_
  SlotQueue summed_;                   // slots in phase kSummed, guarded by mutex_
  std::int64_t advances_ = 0;          // sums and updates so far, guarded by mutex_
  bool ending_ = false;                // guarded by mutex_
  FailureLatch failure_;
  std::thread thread_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_STRATEGIES_ALL_REDUCE_STRATEGY_H_
