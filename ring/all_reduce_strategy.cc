#include "ring/all_reduce_strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "common/errors.h"
#include "ring/agreement.h"

namespace ringside {
namespace {

constexpr int kLeader = 0;  // names the next bucket where urgency decides

}  // namespace

AllReduceStrategy::AllReduceStrategy(const StrategyContext& context, Connect connect)
    : AllReduceStrategy(context, std::move(connect), MakeGradientSum(context)) {}

AllReduceStrategy::AllReduceStrategy(const StrategyContext& context, Connect connect,
                                     std::unique_ptr<UpdateRule> rule)
    : context_(context), connect_(std::move(connect)), rule_(std::move(rule)) {}

AllReduceStrategy::~AllReduceStrategy() { Join(); }

void AllReduceStrategy::Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) {
  RethrowFailure();
  try {
    Agree(space, plan, from);
  } catch (...) {
    collective_.reset();
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    throw;
  }
  std::ranges::copy(from.optimizer_state, context_.optimizer.state().begin());
  rule_->Start(space, plan);
  space_ = &space;
  plan_ = &plan;
  last_step_ = from.step - 1;
  slots_.resize(static_cast<std::size_t>(plan.buckets()));
  if (!slots_.empty()) thread_ = std::thread([this] { Communicate(); });
}

void AllReduceStrategy::Agree(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) {
  collective_ = connect_();
  CheckAgreement(*collective_, context_.world, plan, from);
  collective_->Prepare(space, plan, from.step);
  if (const std::string notes = collective_->Notes(); !notes.empty()) {
    context_.recorder.AddNote(notes);
  }
  collective_->Broadcast(space.params(), 0);
}

void AllReduceStrategy::Submit(const Bucket& bucket) {
  last_step_ = bucket.step;
  {
    const std::lock_guard lock(mutex_);
    RethrowFailure();
    Enqueue(bucket, UpdateRule::Moment::kStep);
  }
  submitted_.notify_one();
}

void AllReduceStrategy::Enqueue(const Bucket& bucket, UpdateRule::Moment moment) {
  Slot& slot = slots_.at(static_cast<std::size_t>(bucket.index));
  if (slot.phase != Phase::kIdle) {
    throw InternalError(fmt::format("bucket {} was submitted twice", bucket.index));
  }
  slot = {bucket, Timeline::Clock::now(), Phase::kSubmitted, moment};
  waiting_.emplace(bucket.step, -bucket.index);
}

void AllReduceStrategy::Await(const Bucket& bucket) {
  std::unique_lock lock(mutex_);
  RethrowFailure();
  WaitFor(static_cast<std::size_t>(bucket.index), lock);
}

void AllReduceStrategy::Settle() {
  std::unique_lock lock(mutex_);
  RethrowFailure();
  if (!rule_->acts_at_pauses()) return;
  for (int index = 0; index < plan_->buckets(); ++index) {
    Enqueue(MakeBucket(*space_, *plan_, index, last_step_), UpdateRule::Moment::kPause);
  }
  submitted_.notify_one();
  for (std::size_t index = 0; index < slots_.size(); ++index) WaitFor(index, lock);
}

void AllReduceStrategy::WaitFor(std::size_t index, std::unique_lock<std::mutex>& lock) {
  const Slot& slot = slots_.at(index);
  // The collective has the operation's timeout; this one sees to a bucket that nobody submitted.
  const auto patience = 2 * context_.comm.timeout;
  while (slot.phase != Phase::kIdle) {
    if (!summed_.empty()) {
      ApplyOne(lock, kComputeLane);
      continue;
    }
    const std::int64_t before = advances_;
    const bool moved = advanced_.wait_for(
        lock, patience, [&] { return advances_ != before || failure_ != nullptr; });
    RethrowFailure();
    if (moved) continue;
    throw CommError(
        "the other workers", fmt::format("waiting for bucket {}, step {}", index, slot.bucket.step),
        fmt::format("no bucket was finished for {} ms; is one not submitted?", patience.count()));
  }
}

void AllReduceStrategy::ApplyOne(std::unique_lock<std::mutex>& lock, int lane) {
  Slot& slot = slots_[summed_.front()];
  summed_.pop_front();
  slot.phase = Phase::kApplying;
  lock.unlock();
  try {
    const Bucket& bucket = slot.bucket;
    const ScopedSpan span(context_.timeline, SpanKind::kApply, bucket.step, bucket.index, lane);
    rule_->Apply(bucket, slot.moment);
  } catch (...) {
    lock.lock();
    failure_ = std::current_exception();
    submitted_.notify_one();  // the communication thread ends
    throw;
  }
  lock.lock();
  slot.phase = Phase::kIdle;
  ++advances_;
  advanced_.notify_one();
}

void AllReduceStrategy::ReadOptimizerState(std::span<float> out) {
  const std::lock_guard lock(mutex_);
  RethrowFailure();
  std::ranges::copy(context_.optimizer.state(), out.begin());
}

void AllReduceStrategy::Stop() {
  {
    std::unique_lock lock(mutex_);
    RethrowFailure();
    for (std::size_t index = 0; index < slots_.size(); ++index) WaitFor(index, lock);
  }
  Join();
  if (collective_ == nullptr) return;
  // Nobody closes its connections while another still reads from them.
  constexpr std::byte kHere{1};
  try {
    collective_->AllGather(std::span(&kHere, 1));
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    throw;
  }
  collective_.reset();
}

void AllReduceStrategy::Join() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  submitted_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void AllReduceStrategy::RethrowFailure() const {
  if (failure_ != nullptr) std::rethrow_exception(failure_);
}

void AllReduceStrategy::Communicate() {
  try {
    SumInOrder();
  } catch (...) {
    collective_.reset();
    {
      const std::lock_guard lock(mutex_);
      if (failure_ == nullptr) failure_ = std::current_exception();
    }
    advanced_.notify_all();
  }
}

void AllReduceStrategy::SumInOrder() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    RethrowFailure();  // the caller's
    AgreeOnNext(lock);
    if (next_ && slots_[*next_].phase == Phase::kSubmitted) {
      SumNext(lock);
    } else if (!summed_.empty()) {
      ApplyOne(lock, kCommunicationLane);
    } else if (!ending_) {
      submitted_.wait(lock);
    }
  }
}

void AllReduceStrategy::AgreeOnNext(std::unique_lock<std::mutex>& lock) {
  if (next_) return;
  if (context_.options.order == SendOrder::kFifo) {
    next_ = sums_++ % slots_.size();
    return;
  }
  // A rank on which nothing waits must not ask: worker 0 may be at an evaluation. Where one bucket
  // waits all ranks have a further sum before them.
  if (waiting_.empty()) return;
  const int most_urgent = -waiting_.begin()->second;
  lock.unlock();
  const std::size_t named = NamedByLeader(most_urgent);
  lock.lock();
  next_ = named;
}

std::size_t AllReduceStrategy::NamedByLeader(int mine) {
  auto named = static_cast<float>(mine);
  Counted([&] { collective_->Broadcast(std::span(&named, 1), kLeader); });
  // As it was received: it is an index only once it has been looked at.
  if (!(named >= 0 && named < static_cast<float>(slots_.size()))) {
    throw CommError(fmt::format("worker {}", kLeader), "naming the next bucket",
                    fmt::format("it named bucket {} of {}", named, slots_.size()));
  }
  return static_cast<std::size_t>(named);
}

void AllReduceStrategy::SumNext(std::unique_lock<std::mutex>& lock) {
  const std::size_t index = *std::exchange(next_, std::nullopt);
  waiting_.erase({slots_[index].bucket.step, -slots_[index].bucket.index});
  lock.unlock();
  Sum(slots_[index]);
  lock.lock();
  slots_[index].phase = Phase::kSummed;
  summed_.push_back(index);
  ++advances_;
  advanced_.notify_one();
}

void AllReduceStrategy::Sum(const Slot& slot) {
  const Bucket& bucket = slot.bucket;
  context_.timeline.Add(SpanKind::kQueue, slot.submitted, Timeline::Clock::now(), bucket.step,
                        bucket.index, kQueueLane);
  const std::span<float> data = rule_->Contribute(bucket, slot.moment);
  if (data.empty()) return;
  const ScopedSpan span(context_.timeline, SpanKind::kWire, bucket.step, bucket.index,
                        kCommunicationLane);
  Counted([&] {
    collective_->AllReduceSum(data, fmt::format("bucket {}, step {}", bucket.index, bucket.step));
  });
}

void AllReduceStrategy::Counted(const std::function<void()>& operation) {
  const Traffic before = collective_->traffic();
  operation();
  const Traffic after = collective_->traffic();
  context_.recorder.AddPayload(after.sent - before.sent, after.received - before.received);
}

}  // namespace ringside
