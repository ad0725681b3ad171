#include "ringside/ring/strategies/all_reduce_strategy.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/common/strategy/plan_agreement.h"
#include "ringside/ring/core/gather_values.h"

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
  failure_.Check();
  calls_.Start(space, plan);
  failure_.Guard([&] {
    try {
      Agree(space, plan, from);
      context_.optimizer.LoadState(from.optimizer_state);
      rule_->Start(space, plan);
      space_ = &space;
      plan_ = &plan;
      last_step_ = from.step - 1;
      slots_.resize(static_cast<std::size_t>(plan.buckets()));
      summed_.MakeRoom(slots_.size());
      if (!slots_.empty()) thread_ = std::thread([this] { Communicate(); });
    } catch (...) {
      collective_.reset();
      throw;
    }
  });
}

void AllReduceStrategy::Agree(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) {
  collective_ = connect_();
  CheckPlanAgreement(
      GatherValues(*collective_, SummaryOf(plan, from), context_.world.workers, "the start"));
  collective_->Prepare(space, plan);
  if (const std::string notes = collective_->Notes(); !notes.empty()) {
    context_.recorder.AddNote(notes);
  }
  if (const std::size_t bytes = collective_->segment_bytes(); bytes > 0) {
    context_.recorder.SetFact("segment_bytes", static_cast<double>(bytes));
  }
  collective_->Broadcast(std::as_writable_bytes(space.params()), 0);
}

void AllReduceStrategy::Submit(const Bucket& bucket) {
  failure_.Check();
  calls_.Submit(bucket);
  last_step_ = bucket.step;
  {
    const std::lock_guard lock(mutex_);
    Enqueue(bucket, UpdateRule::UpdateTrigger::kStep);
  }
  submitted_.notify_one();
}

void AllReduceStrategy::Enqueue(const Bucket& bucket, UpdateRule::UpdateTrigger trigger) {
  slots_[static_cast<std::size_t>(bucket.index)] = {bucket, Timeline::Clock::now(),
                                                    Phase::kSubmitted, trigger};
}

void AllReduceStrategy::Await(const Bucket& bucket) {
  failure_.Check();
  if (!calls_.Await(bucket)) return;
  Guard([&] {
    std::unique_lock lock(mutex_);
    WaitFor(static_cast<std::size_t>(bucket.index), lock);
  });
}

void AllReduceStrategy::Settle() {
  failure_.Check();
  calls_.Settle();
  if (!rule_->acts_at_pauses()) return;
  Guard([&] {
    std::unique_lock lock(mutex_);
    for (int index = 0; index < plan_->buckets(); ++index) {
      Enqueue(MakeBucket(*space_, *plan_, index, last_step_), UpdateRule::UpdateTrigger::kPause);
    }
    submitted_.notify_one();
    for (std::size_t index = 0; index < slots_.size(); ++index) WaitFor(index, lock);
  });
}

template <typename Steps>
void AllReduceStrategy::Guard(const Steps& steps) {
  failure_.Guard([&] {
    try {
      steps();
    } catch (...) {
      KeepFailure();
      throw;
    }
  });
}

void AllReduceStrategy::WaitFor(std::size_t index, std::unique_lock<std::mutex>& lock) {
  const Slot& slot = slots_[index];
  // The collective has its own timeout. This timeout is for a bucket that was never submitted.
  const auto patience = 2 * context_.comm.timeout;
  while (slot.phase != Phase::kIdle) {
    if (!summed_.empty()) {
      ApplyOne(lock, kComputeLane);
      continue;
    }
    const std::int64_t before = advances_;
    const bool moved = advanced_.wait_for(lock, patience,
                                          [&] { return advances_ != before || failure_.failed(); });
    failure_.Check();
    if (moved) continue;
    throw CommError(
        "the other workers", fmt::format("waiting for bucket {}, step {}", index, slot.bucket.step),
        fmt::format("no bucket was finished for {} ms; is one not submitted?", patience.count()));
  }
}

void AllReduceStrategy::ApplyOne(std::unique_lock<std::mutex>& lock, int lane) {
  Slot& slot = slots_[summed_.Pop()];
  slot.phase = Phase::kApplying;
  lock.unlock();
  {
    const Bucket& bucket = slot.bucket;
    const ScopedSpan span(context_.timeline, SpanKind::kApply, bucket.step, bucket.index, lane);
    rule_->Apply(bucket, slot.trigger);
  }
  lock.lock();
  slot.phase = Phase::kIdle;
  ++advances_;
  advanced_.notify_one();
}

void AllReduceStrategy::ReadOptimizerState(std::span<float> out) {
  failure_.Check();
  calls_.ReadOptimizerState();
  context_.optimizer.ReadState(out);
}

std::vector<StateVector> AllReduceStrategy::State() {
  failure_.Check();
  calls_.State();
  const std::lock_guard lock(mutex_);  // what the communication thread wrote becomes visible
  std::vector<StateVector> state = collective_->State();
  Append(state, rule_->State());
  return state;
}

void AllReduceStrategy::Stop() {
  failure_.Check();
  calls_.Stop();
  Guard([&] {
    std::unique_lock lock(mutex_);
    for (std::size_t index = 0; index < slots_.size(); ++index) WaitFor(index, lock);
  });
  Join();
  // No rank closes its connections while another still reads from them.
  constexpr std::byte kHere{1};
  failure_.Guard([&] { collective_->AllGather(std::span(&kHere, 1)); });
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

void AllReduceStrategy::KeepFailure() {
  {
    const std::lock_guard lock(mutex_);
    failure_.Set(std::current_exception());
  }
  submitted_.notify_one();  // the communication thread ends
  advanced_.notify_all();
}

void AllReduceStrategy::Communicate() {
  try {
    SumInOrder();
  } catch (...) {
    collective_.reset();
    KeepFailure();
  }
}

void AllReduceStrategy::SumInOrder() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    failure_.Check();  // a failure of the caller's thread
    AgreeOnNext(lock);
    if (next_ && slots_[*next_].phase == Phase::kSubmitted) {
      const std::size_t index = *next_;
      next_.reset();
      SumSlot(index, lock);
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
  // A rank without a submitted bucket must not ask, because worker 0 may be evaluating. With a
  // submitted bucket it is certain that all ranks will do another sum.
  const std::optional<std::size_t> most_urgent = MostUrgent();
  if (!most_urgent) return;
  lock.unlock();
  const std::size_t named = BroadcastLeaderChoice(*most_urgent);
  lock.lock();
  next_ = named;
}

std::optional<std::size_t> AllReduceStrategy::MostUrgent() const {
  std::optional<std::size_t> best;
  for (std::size_t index = slots_.size(); index-- > 0;) {
    if (slots_[index].phase != Phase::kSubmitted) continue;
    if (!best || slots_[index].bucket.step < slots_[*best].bucket.step) best = index;
  }
  return best;
}

std::size_t AllReduceStrategy::BroadcastLeaderChoice(std::size_t mine) {
  auto named = static_cast<std::uint32_t>(mine);
  // Not counted as payload: no part of a gradient moves, and a record has no chunk of it either.
  collective_->Broadcast(std::as_writable_bytes(std::span(&named, 1)), kLeader);
  // Not yet an index: the received value must be checked first.
  if (named >= slots_.size()) {
    throw CommError(fmt::format("worker {}", kLeader), "naming the next bucket",
                    fmt::format("it named bucket {} of {}", named, slots_.size()));
  }
  return named;
}

void AllReduceStrategy::SumSlot(std::size_t index, std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  Sum(slots_[index]);
  lock.lock();
  slots_[index].phase = Phase::kSummed;
  summed_.Push(index);
  ++advances_;
  advanced_.notify_one();
}

void AllReduceStrategy::Sum(const Slot& slot) {
  const Bucket& bucket = slot.bucket;
  context_.timeline.Add(SpanKind::kQueue, slot.submitted, Timeline::Clock::now(), bucket.step,
                        bucket.index, kQueueLane);
  const FlatVector vector = rule_->Contribute(bucket, slot.trigger);
  if (vector == FlatVector::kNone || bucket.grads.empty()) return;
  const ScopedSpan span(context_.timeline, SpanKind::kWire, bucket.step, bucket.index,
                        kCommunicationLane);
  const BucketMessage message{vector == FlatVector::kParams ? bucket.params : bucket.grads,
                              bucket.offset,
                              bucket.index,
                              bucket.step,
                              vector,
                              bucket.device};
  CheckIsBucket(message, *plan_);
  Counted([&] { collective_->AllReduceSum(message); });
}

template <typename Call>
void AllReduceStrategy::Counted(const Call& operation) {
  const Traffic before = collective_->traffic();
  operation();
  const Traffic after = collective_->traffic();
  context_.recorder.AddPayload(after.sent - before.sent, after.received - before.received);
}

}  // namespace ringside
