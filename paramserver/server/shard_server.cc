#include "ringside/paramserver/server/shard_server.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "ringside/common/core/errors.h"
#include "ringside/common/core/fault_point.h"
#include "ringside/paramserver/wire/wire_codec.h"

namespace ringside {
namespace {

std::string WorkerList(const std::vector<int>& workers) {
  std::string names = workers.size() == 1 ? "worker " : "workers ";
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (i > 0) names += ", ";
    names += std::to_string(workers[i]);
  }
  return names;
}

}  // namespace

void AnswerQueue::Add(PendingReply& reply, ParameterReply answer) {
  reply.answer_ = std::move(answer);
  reply.next_ = nullptr;
  (last_ == nullptr ? first_ : last_->next_) = &reply;
  last_ = &reply;
}

void AnswerQueue::SendAll() {
  last_ = nullptr;
  while (first_ != nullptr) {
    PendingReply& reply = *std::exchange(first_, first_->next_);
    reply.Send(std::move(reply.answer_));
  }
}

ShardCounters& ShardCounters::operator+=(const ShardCounters& other) {
  bytes_received += other.bytes_received;
  bytes_sent += other.bytes_sent;
  for (const auto& [versions, count] : other.staleness) staleness[versions] += count;
  updates += other.updates;
  dropped += other.dropped;
  waiting += other.waiting;
  copies += other.copies;
  return *this;
}

ShardServer::ShardServer(const PlanInfo::ServedSlice& slice, int workers,
                         const std::optional<OptimizerOptions>& optimizer,
                         std::unique_ptr<Consistency> consistency, Timeline& timeline,
                         const CodecOptions& codec, int server)
    : server_(server),
      slice_(static_cast<int>(slice.index)),
      bucket_(static_cast<int>(slice.bucket)),
      leads_(slice.leads),
      elements_(slice.elements),
      push_bytes_(WireFloats(codec, elements_) * sizeof(float)),
      reply_bytes_(WireFloats(ReplyCodec(codec), elements_) * sizeof(float)),
      timeline_(timeline),
      shard_(elements_, workers, optimizer, codec),
      consistency_(std::move(consistency)),
      waiting_(static_cast<std::size_t>(workers)) {
  state_per_parameter_ = shard_.state_per_parameter();
  contributors_.reserve(waiting_.size());
}

void ShardServer::Start(std::int64_t step) {
  const std::lock_guard lock(mutex_);
  shard_.SetVersion(consistency_->Start(step));
}

void ShardServer::Load(int part, const Payload& values) {
  const std::lock_guard lock(mutex_);
  if (pushed_) {
    throw RefusedError(RefusalCode::kDuplicate,
                       "bucket " + std::to_string(bucket_) + " has been trained on already");
  }
  shard_.Load(part, values);
  if (part == 0) loaded_ = true;
}

ParameterRef ShardServer::ReadState(int part) {
  const std::lock_guard lock(mutex_);
  RequireUsable();
  return shard_.ReadState(part);
}

ParameterReply ShardServer::Pull(std::int64_t barriers) {
  const std::lock_guard lock(mutex_);
  RequireUsable();
  consistency_->OnBarrier(barriers);
  if (pushed_) counters_.bytes_sent += elements_ * sizeof(float);
  return {shard_.parameters(), shard_.version()};
}

void ShardServer::Retire(int worker, std::int64_t barrier) {
  AnswerQueue answers;
  {
    const std::lock_guard lock(mutex_);
    RequireUsable();
    RequireNoneWaiting(worker);
    answers = TakeAnswers(consistency_->OnRetire(worker, barrier));
  }
  answers.SendAll();
}

void ShardServer::Push(const PushInfo& push, PayloadPtr gradient, PendingReply& reply,
                       const Deadline& deadline) {
  AnswerQueue answers;
  const auto arrived = Timeline::Clock::now();
  {
    const std::lock_guard lock(mutex_);
    timeline_.Add(SpanKind::kQueue, arrived, Timeline::Clock::now(), push.step, bucket_,
                  kServerQueueLane);
    RequireUsable();
    RequireNoneWaiting(push.worker);
    const PushDecision verdict = consistency_->OnPush(push, shard_.version());
    pushed_ = true;
    counters_.bytes_received += push_bytes_;
    RecordPush(push, arrived);
    Waiting& waiting = waiting_[static_cast<std::size_t>(push.worker)].emplace(
        Waiting{.reply = &reply, .deadline = deadline, .push = push, .arrived = arrived});
    try {
      Use(waiting, verdict, std::move(gradient));
      if (verdict.apply) {
        FaultPoint({.point = fault_points::kShardApplied, .step = push.step, .bucket = bucket_});
      }
      answers = TakeAnswers(verdict.answer);
    } catch (...) {
      Break(push.worker);
      throw;
    }
  }
  answers.SendAll();
}

void ShardServer::Use(Waiting& waiting, const PushDecision& verdict, PayloadPtr gradient) {
  const PushInfo& push = waiting.push;
  if (!verdict.use_gradient) {
    waiting.dropped = true;
    if (leads_) ++counters_.dropped;
    return;
  }
  shard_.Contribute(verdict.order, std::move(gradient));
  contributors_.push_back(push.worker);
  if (verdict.apply) {
    return Apply(*verdict.apply, verdict.scale, push.step, push.worker);
  }
  const ScopedSpan span(timeline_, SpanKind::kReduce, push.step, bucket_, kServerLane);
  shard_.AccumulateInOrder();
}

// A half-done update cannot be undone. The caller answers the push that failed and then deletes its
// reply. So this object must not keep the reply.
void ShardServer::Break(int worker) {
  broken_ = true;
  waiting_[static_cast<std::size_t>(worker)].reset();
  std::erase(contributors_, worker);
}

// Staleness is measured here, when the update is applied: the number of updates since the
// parameters that each gradient was computed from.
void ShardServer::Apply(const Update& update, float scale, std::int64_t step, int last) {
  for (const int worker : contributors_) {
    std::optional<Waiting>& waiting = waiting_[static_cast<std::size_t>(worker)];
    if (!waiting) continue;
    waiting->staleness = shard_.version() - waiting->push.version;
    if (leads_) ++counters_.staleness[waiting->staleness];
  }
  const auto begin = Timeline::Clock::now();
  const ScopedSpan span(timeline_, SpanKind::kApply, step, bucket_, kServerLane);
  try {
    shard_.Apply(update, scale);
  } catch (const DivergedError&) {
    throw DivergedError(
        (contributors_.size() == 1 ? "the gradient of " : "the sum of the gradients of ") +
        WorkerList(contributors_) + " for bucket " + std::to_string(bucket_) + " at step " +
        std::to_string(step) + " is not finite");
  }
  RecordUpdate(step, last, begin);
  contributors_.clear();
  if (leads_) ++counters_.updates;
}

// After a worker is taken off the list nothing may throw, because the worker must be answered.
AnswerQueue ShardServer::TakeAnswers(std::span<const int> workers) {
  AnswerQueue answers;
  if (workers.empty()) return answers;
  const ParameterRef parameters = shard_.Reply();
  for (const int worker : workers) {
    std::optional<Waiting>& waiting = waiting_[static_cast<std::size_t>(worker)];
    if (!waiting) continue;
    counters_.bytes_sent += reply_bytes_;
    RecordAnswer(*waiting);
    answers.Add(*waiting->reply,
                {parameters, shard_.version(), waiting->staleness, waiting->dropped});
    waiting.reset();
  }
  return answers;
}

ChunkEvent ShardServer::EventOf(ChunkPhase phase, ChunkAction action, const PushInfo& push,
                                Timeline::Clock::time_point at) const {
  ChunkEvent event;
  event.begin = event.end = at;
  event.step = push.step;
  event.elements = elements_;
  event.version = push.version;
  event.bucket = bucket_;
  event.piece = slice_;
  event.server = server_;
  event.peer = push.worker;
  event.phase = phase;
  event.action = action;
  return event;
}

void ShardServer::RecordPush(const PushInfo& push, Timeline::Clock::time_point arrived) const {
  if (!timeline_.enabled()) return;
  ChunkEvent event = EventOf(ChunkPhase::kPush, ChunkAction::kReceive, push, arrived);
  event.bytes = push_bytes_;
  event.end = Timeline::Clock::now();
  timeline_.AddChunk(event);
}

void ShardServer::RecordUpdate(std::int64_t step, int last,
                               Timeline::Clock::time_point begin) const {
  if (!timeline_.enabled()) return;
  ChunkEvent event = EventOf(ChunkPhase::kPush, ChunkAction::kUpdate,
                             {.worker = last, .step = step, .version = shard_.version()}, begin);
  event.end = Timeline::Clock::now();
  timeline_.AddChunk(event);
}

void ShardServer::RecordAnswer(const Waiting& waiting) const {
  if (!timeline_.enabled()) return;
  ChunkEvent event =
      EventOf(ChunkPhase::kPull, ChunkAction::kSend, waiting.push, Timeline::Clock::now());
  event.bytes = reply_bytes_;
  event.version = shard_.version();
  event.staleness = waiting.dropped ? -1 : waiting.staleness;
  timeline_.AddChunk(event);
}

PendingReply* ShardServer::TakeWaiting(int worker) {
  std::optional<Waiting>& waiting = waiting_[static_cast<std::size_t>(worker)];
  PendingReply* reply = waiting ? waiting->reply : nullptr;
  waiting.reset();
  return reply;
}

// A reply that was taken off the list is refused even if the update fails, because nobody else
// knows of it any more.
void ShardServer::Drop(int worker, const Refusal& refusal) {
  PendingReply* refused = nullptr;
  AnswerQueue answers;
  std::exception_ptr failure;
  {
    const std::lock_guard lock(mutex_);
    refused = TakeWaiting(worker);
    try {
      // A broken shard applies nothing more.
      const PushDecision verdict = broken_ ? PushDecision() : consistency_->OnDrop(worker);
      // Updates that several workers share are numbered by steps, from 1.
      if (verdict.apply) {
        Apply(*verdict.apply, verdict.scale, verdict.apply->number - 1, -1);
      }
      answers = TakeAnswers(verdict.answer);
    } catch (...) {
      broken_ = true;
      failure = std::current_exception();
    }
  }
  if (refused != nullptr) refused->Refuse(refusal);
  if (failure != nullptr) std::rethrow_exception(failure);
  answers.SendAll();
}

bool ShardServer::CancelPush(PendingReply& reply, const std::optional<Deadline>& gone_at) {
  const std::lock_guard lock(mutex_);
  for (std::optional<Waiting>& waiting : waiting_) {
    if (!waiting || waiting->reply != &reply) continue;
    if (gone_at && !withdrawn_) withdrawn_ = Waiting{.deadline = *gone_at, .push = waiting->push};
    waiting.reset();
    return true;
  }
  return false;
}

std::optional<Refusal> ShardServer::Expired(Deadline::Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (withdrawn_ && withdrawn_->deadline.at() <= now) {
    const std::string worker = WorkerList({withdrawn_->push.worker});
    return Refusal{RefusalCode::kAborted,
                   worker + " is gone: it left while its push of bucket " +
                       std::to_string(bucket_) + ", step " + std::to_string(withdrawn_->push.step) +
                       " was waiting",
                   worker};
  }
  for (const std::optional<Waiting>& waiting : waiting_) {
    if (!waiting || waiting->deadline.at() > now) continue;
    const std::string missing = WorkerList(consistency_->Missing());
    return Refusal{RefusalCode::kLate,
                   missing + " did not push bucket " + std::to_string(bucket_) +
                       " in time: worker " + std::to_string(waiting->push.worker) +
                       " waits for it in step " + std::to_string(waiting->push.step),
                   missing};
  }
  return std::nullopt;
}

void ShardServer::RefuseWaiting(const Refusal& refusal) {
  std::vector<PendingReply*> replies;
  {
    const std::lock_guard lock(mutex_);
    for (std::optional<Waiting>& waiting : waiting_) {
      if (!waiting) continue;
      replies.push_back(waiting->reply);
      waiting.reset();
    }
  }
  for (PendingReply* reply : replies) reply->Refuse(refusal);
}

// A second push would replace the first one, which would then never be answered.
void ShardServer::RequireNoneWaiting(int worker) const {
  if (!waiting_[static_cast<std::size_t>(worker)]) return;
  throw RefusedError(RefusalCode::kDuplicate, "a push of worker " + std::to_string(worker) +
                                                  " of bucket " + std::to_string(bucket_) +
                                                  " waits for its answer already");
}

ShardCounters ShardServer::counters() const {
  const std::lock_guard lock(mutex_);
  ShardCounters counters = counters_;
  counters.waiting = static_cast<int>(std::ranges::count_if(
      waiting_, [](const std::optional<Waiting>& waiting) { return waiting.has_value(); }));
  counters.copies = shard_.copies();
  return counters;
}

std::optional<ActivityBoard::Entry> ShardServer::LongestWait() const {
  // A shard that is at work waits for nobody. Heartbeats ask, and must not wait for it.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return std::nullopt;
  const Waiting* longest = nullptr;
  for (const std::optional<Waiting>& waiting : waiting_) {
    if (waiting && (longest == nullptr || waiting->arrived < longest->arrived)) longest = &*waiting;
  }
  if (longest == nullptr) return std::nullopt;
  const std::vector<int> missing = consistency_->Missing();
  if (missing.empty()) return std::nullopt;
  return ActivityBoard::Entry{.activity = {.kind = Activity::Kind::kServe,
                                           .step = longest->push.step,
                                           .bucket = bucket_,
                                           .peer = {AwaitedPeer::Way::kPush, missing.front()}},
                              .since = longest->arrived};
}

void ShardServer::RequireUsable() const {
  if (broken_) {
    throw RefusedError(RefusalCode::kAborted,
                       "an update of bucket " + std::to_string(bucket_) + " has failed");
  }
  if (loaded_) return;
  throw RefusedError(RefusalCode::kPrecondition,
                     "bucket " + std::to_string(bucket_) + " has no parameters yet");
}

}  // namespace ringside
