#ifndef RINGSIDE_RING_ALL_REDUCE_STRATEGY_H_
#define RINGSIDE_RING_ALL_REDUCE_STRATEGY_H_

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "common/measure/timeline.h"
#include "common/strategy.h"
#include "common/strategy_entry.h"
#include "ring/collective.h"

namespace ringside {

/// Sums every bucket over all workers, then applies the worker's own optimizer to it. Works on any
/// `Collective`.
///
/// One communication thread takes the buckets in plan order, whatever order they are submitted in:
/// so all ranks agree without a word. The caller's thread and that thread share the table of slots
/// under one mutex; the collective belongs to the caller until `Start` returns and after `Stop` has
/// joined, to the communication thread in between. A failure there is kept and rethrown by every
/// later call; the collective is destroyed at once, so that the peers learn of it.
class AllReduceStrategy : public Strategy {
 public:
  using Connect = std::function<std::unique_ptr<Collective>()>;

  /// `connect` is called by `Start`; it may wait for the other workers.
  AllReduceStrategy(const StrategyContext& context, Connect connect);
  /// Without `Stop`: waits for the bucket under way, at most the operation's timeout.
  ~AllReduceStrategy() override;

  void Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) override;
  void Submit(const Bucket& bucket) override;
  void Await(const Bucket& bucket) override;
  void ReadOptimizerState(std::span<float> out) override;
  void Stop() override;

 private:
  struct Slot {
    Bucket bucket;
    Timeline::Clock::time_point submitted;
    bool under_way = false;  ///< From Submit until the update is applied.
  };

  void Agree(FlatSpace& space, const BucketPlan& plan, const StartPoint& from);
  void CheckPlans(const BucketPlan& plan, const StartPoint& from);
  void WaitFor(std::size_t index, std::unique_lock<std::mutex>& lock);
  void RethrowFailure() const;
  void Join();

  // On the communication thread.
  void Communicate();
  bool TakeSubmitted(std::size_t index);
  void Synchronize(const Slot& slot);
  void Finish(std::size_t index);

  StrategyContext context_;
  Connect connect_;
  std::unique_ptr<Collective> collective_;
  const float* origin_ = nullptr;  // of the flat parameter vector

  mutable std::mutex mutex_;
  std::condition_variable submitted_;  // a slot got under way, or it is time to end
  std::condition_variable finished_;   // a slot is done, or the thread has failed
  std::vector<Slot> slots_;            // guarded by mutex_
  std::int64_t done_ = 0;              // buckets finished so far, guarded by mutex_
  std::exception_ptr failure_;         // guarded by mutex_
  bool ending_ = false;                // guarded by mutex_
  std::thread thread_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_ALL_REDUCE_STRATEGY_H_
