// A turn, for N workers and a bucket of b bytes: a worker posts that its gradient is ready, waits
// until all have, updates its chunk and posts that it is done. In total N b bytes of gradients and
// b of parameters are read, N b of parameters written. A worker applies the optimizer to b/N.
#include "ringside/ring/shm/shm_strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "ringside/common/base/errors.h"
#include "ringside/common/strategy/plan_agreement.h"
#include "ringside/ring/core/gather_values.h"
#include "ringside/ring/core/operation.h"
#include "ringside/ring/shm/sum_vectors.h"

namespace ringside {
namespace {

constexpr std::string_view kUpdate = "update of";
/// Block size: a block stays in the first-level cache from the sum to the optimizer.
constexpr std::size_t kBlockFloats = 2048;

}  // namespace

ShmStrategy::ShmStrategy(const StrategyContext& context) : context_(context) {}

void ShmStrategy::Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) {
  failure_.Check();
  calls_.Start(space, plan);
  Guard([&] {
    Connect(space, plan, from);
    std::ranges::copy(from.optimizer_state, context_.optimizer.state().begin());
    const auto buckets = static_cast<std::uint32_t>(plan.buckets());
    slots_.resize(buckets);
    for (std::uint32_t i = 0; i < buckets; ++i) slots_[i].turn = i + 1 - buckets;
  });
}

void ShmStrategy::Connect(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) {
  const HostRanks host = AllOnOneHost(context_.world);
  collective_ = std::make_unique<ShmCollective>(host, context_.store, context_.comm, "shm");
  CheckPlanAgreement(
      GatherValues(*collective_, SummaryOf(plan, from), context_.world.workers, "the start"));
  collective_->Prepare(space, plan);
  if (collective_->spaces().empty())
    throw InternalError("strategy shm needs flat vectors in shared memory");
  collective_->Broadcast(std::as_writable_bytes(space.params()), 0);
  group_ = std::make_unique<ShmGroup>(ShmGroupOptions{.rank = host.rank,
                                                      .workers = host.workers,
                                                      .store = context_.store,
                                                      .comm = context_.comm,
                                                      .prefix = "shm/turns"});
  plan_ = &plan;
  space_ = &space;
  others_.resize(host.workers.size());
  sum_.resize(kBlockFloats);
  ShareState();
}

void ShmStrategy::ShareState() {
  const std::size_t bytes = context_.optimizer.state_size() * sizeof(float);
  if (bytes == 0) return;
  const std::string key = "shm/state";
  if (context_.world.rank == 0) {
    state_ = MemoryRegion::CreateShared("ringside-" + key, bytes);
    context_.store.Set(key, state_.handle());
  } else {
    const Deadline deadline = Deadline::After(context_.comm.timeout);
    state_ = MemoryRegion::AttachShared(context_.store.Get(key, deadline), bytes);
  }
}

void ShmStrategy::Submit(const Bucket& bucket) {
  failure_.Check();
  calls_.Submit(bucket);
  Guard([&] {
    Slot& slot = slots_[static_cast<std::size_t>(bucket.index)];
    const auto turn = slot.turn + static_cast<std::uint32_t>(slots_.size());
    slot = {bucket, Timeline::Clock::now(), turn, true};
    PostReady();
    Advance(done_);
  });
}

void ShmStrategy::Await(const Bucket& bucket) {
  failure_.Check();
  if (!calls_.Await(bucket)) return;
  Guard([&] { Finish(slots_[static_cast<std::size_t>(bucket.index)]); });
}

void ShmStrategy::Finish(Slot& slot) {
  if (!slot.busy) return;
  Advance(slot.turn);
  const Bucket& bucket = slot.bucket;
  const ScopedSpan span(context_.timeline, SpanKind::kWire, bucket.step, bucket.index);
  group_->WaitForAll(ShmCount::kDone, slot.turn, {kUpdate, bucket.index, bucket.step});
  slot.busy = false;
}

void ShmStrategy::PostReady() {
  const std::uint32_t before = ready_;
  while (slots_[next_ready_].turn == ready_ + 1) {
    ++ready_;
    next_ready_ = (next_ready_ + 1) % slots_.size();
  }
  if (ready_ != before) group_->Post(ShmCount::kReady, ready_);
}

void ShmStrategy::Advance(std::uint32_t turn) {
  // Turn numbers wrap around. This turn may already be done.
  auto wanted = static_cast<std::int32_t>(turn - done_);
  for (; wanted > 0 || done_ != ready_; --wanted) {
    const Slot& slot = slots_[next_done_];
    if (wanted > 0) {
      const Bucket& bucket = slot.bucket;
      const ScopedSpan span(context_.timeline, SpanKind::kWire, bucket.step, bucket.index);
      group_->WaitForAll(ShmCount::kReady, done_ + 1, {kUpdate, bucket.index, bucket.step});
    } else if (!group_->HaveAll(ShmCount::kReady, done_ + 1)) {
      return;
    }
    Update(slot);
    group_->Post(ShmCount::kDone, ++done_);
    next_done_ = (next_done_ + 1) % slots_.size();
  }
}

void ShmStrategy::Settle() {
  failure_.Check();
  calls_.Settle();
  Guard([&] {
    if (state_.bytes() > 0) PublishState();
    collective_->AllGather({});
  });
}

void ShmStrategy::PublishState() {
  const std::span<const float> state = context_.optimizer.state();
  for (std::size_t vector = 0; vector < state.size(); vector += space_->size()) {
    for (int bucket = 0; bucket < plan_->buckets(); ++bucket) {
      const Bucket whole = MakeBucket(*space_, *plan_, bucket, 0);
      const CacheAlignedChunk chunk = MineOf(whole);
      const std::size_t begin = vector + plan_->range(bucket).begin + chunk.begin;
      std::ranges::copy(state.subspan(begin, chunk.size()), OpenState().begin() + begin);
    }
  }
}

std::vector<StateVector> ShmStrategy::State() {
  failure_.Check();
  calls_.State();
  return {};
}

void ShmStrategy::ReadOptimizerState(std::span<float> out) {
  failure_.Check();
  calls_.ReadOptimizerState();
  Guard([&] { std::ranges::copy(OpenState(), out.begin()); });
}

std::span<float> ShmStrategy::OpenState() const {
  return {reinterpret_cast<float*>(state_.data()), state_.bytes() / sizeof(float)};
}

void ShmStrategy::Stop() {
  failure_.Check();
  calls_.Stop();
  Guard([&] {
    for (Slot& slot : slots_) Finish(slot);
    // No worker leaves while another still waits for it.
    collective_->AllGather({});
  });
}

template <typename Steps>
void ShmStrategy::Guard(const Steps& steps) {
  failure_.Guard([&] {
    try {
      steps();
    } catch (...) {
      if (group_ != nullptr) group_->Leave();
      throw;
    }
  });
}

void ShmStrategy::Update(const Slot& slot) {
  const Bucket& bucket = slot.bucket;
  context_.timeline.Add(SpanKind::kQueue, slot.submitted, Timeline::Clock::now(), bucket.step,
                        bucket.index, kQueueLane);
  const CacheAlignedChunk chunk = MineOf(bucket);
  const auto begin_at = Timeline::Clock::now();
  for (std::size_t begin = chunk.begin; begin < chunk.end; begin += kBlockFloats) {
    UpdateBlock(bucket, begin, std::min(kBlockFloats, chunk.end - begin));
  }
  const std::size_t bytes = chunk.size() * sizeof(float) * (others_.size() - 1);
  context_.recorder.AddPayload(bytes, bytes);
  Record(bucket, chunk, begin_at);
}

void ShmStrategy::Record(const Bucket& bucket, const CacheAlignedChunk& chunk,
                         Timeline::Clock::time_point begin) {
  if (!context_.timeline.enabled()) return;
  const auto end = Timeline::Clock::now();
  context_.timeline.Add(SpanKind::kApply, begin, end, bucket.step, bucket.index, kComputeLane);
  ChunkEvent slice;
  slice.begin = begin;
  slice.end = end;
  slice.step = bucket.step;
  slice.bucket = bucket.index;
  slice.offset = bucket.offset + chunk.begin;
  slice.elements = chunk.size();
  slice.bytes = chunk.size() * sizeof(float) * (others_.size() - 1);
  slice.phase = ChunkPhase::kSlice;
  slice.action = ChunkAction::kUpdate;
  context_.timeline.AddChunk(slice);
}

void ShmStrategy::UpdateBlock(const Bucket& bucket, std::size_t begin, std::size_t size) {
  const ShmSpaces& spaces = collective_->spaces();
  const std::size_t offset = bucket.offset + begin;
  spaces.Locate(FlatVector::kGrads, offset, others_);
  float* const sum = sum_.data();
  SumVectors(others_, std::span(&sum, 1), size);
  if (context_.caller_updates) {
    // Nobody reads the gradients of this block any more.
    for (float* theirs : others_) std::copy_n(sum, size, theirs);
    return;
  }
  const auto params = bucket.params.subspan(begin, size);
  context_.optimizer.Apply(offset, params, std::span(sum_).first(size),
                           {bucket.step + 1, context_.schedule.At(bucket.step)});
  spaces.Locate(FlatVector::kParams, offset, others_);
  for (float* theirs : others_) {
    if (theirs != params.data()) std::ranges::copy(params, theirs);
  }
}

CacheAlignedChunk ShmStrategy::MineOf(const Bucket& bucket) const {
  return ChunkOf(bucket.grads, context_.world.workers, context_.world.rank);
}

}  // namespace ringside
