#include "ringside/paramserver/server/shard_server.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/base/fault_point.h"
#include "ringside/paramserver/wire/wire.h"
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
    : bucket_(static_cast<int>(slice.bucket)),
      leads_(slice.leads),
      elements_(slice.elements),
      push_bytes_(WireFloats(codec, elements_) * sizeof(float)),
      reply_bytes_(WireFloats(ReplyCodec(codec), elements_) * sizeof(float)),
      timeline_(timeline),
      events_(timeline, {.server = server,
                         .index = static_cast<int>(slice.index),
                         .bucket = bucket_,
                         .elements = elements_,
                         .reply_bytes = reply_bytes_}),
      shard_(elements_, workers, optimizer, codec),
      consistency_(std::move(consistency)),
      last_(static_cast<std::size_t>(workers)),
      connected_(last_.size()) {
  state_per_parameter_ = shard_.state_per_parameter();
  contributors_.reserve(last_.size());
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
  PendingReply* replaced = nullptr;
  const auto arrived = Timeline::Clock::now();
  {
    const std::lock_guard lock(mutex_);
    timeline_.Add(SpanKind::kQueue, arrived, Timeline::Clock::now(), push.step, bucket_,
                  kServerQueueLane);
    RequireUsable();
    if (IsRepeated(push)) {
      answers = TakeAgain(push, reply, replaced);
    } else {
      answers = TakeNew(push, std::move(gradient), reply, deadline, arrived);
    }
  }
  if (replaced != nullptr) {
    replaced->Refuse(
        {RefusalCode::kAborted, "this push has come again over another connection", {}});
  }
  answers.SendAll();
}

AnswerQueue ShardServer::TakeNew(const PushInfo& push, PayloadPtr gradient, PendingReply& reply,
                                 const Deadline& deadline, Timeline::Clock::time_point arrived) {
  RequireNoneWaiting(push.worker);
  const PushDecision verdict = consistency_->OnPush(push, shard_.version());
  pushed_ = true;
  LastPush& last = last_[static_cast<std::size_t>(push.worker)].emplace(
      LastPush{.reply = &reply,
               .deadline = deadline,
               .push = push,
               .arrived = arrived,
               .replied_by = Deadline::Clock::now()});
  try {
    const std::size_t bytes = PaddedFloats(gradient->bytes()) * sizeof(float);
    counters_.bytes_received += bytes;
    events_.AddPush(push, bytes, arrived);
    Use(last, verdict, std::move(gradient));
    if (verdict.apply) {
      FaultPoint({.point = fault_points::kShardApplied, .step = push.step, .bucket = bucket_});
    }
    return TakeAnswers(verdict.answer);
  } catch (...) {
    Break(push.worker);
    throw;
  }
}

// Nothing else of the push needs to be compared: it carries the same proof as the first one.
bool ShardServer::IsRepeated(const PushInfo& push) const {
  const LastPush* last = LastOf(push.worker);
  return push.repeats > 0 && last != nullptr && last->push.step == push.step &&
         last->push.version == push.version;
}

AnswerQueue ShardServer::TakeAgain(const PushInfo& push, PendingReply& reply,
                                   PendingReply*& replaced) {
  LastPush& last = *LastOf(push.worker);
  if (push.repeats < last.push.repeats ||
      (push.repeats == last.push.repeats && push.repeats < FrameHeader::kMostRepeats)) {
    throw RefusedError(RefusalCode::kDuplicate,
                       "this repeat of the push, or a later one, has come already");
  }
  AnswerQueue answers;
  const ParameterRef parameters = last.due ? ParameterRef(0) : shard_.Reply();
  replaced = std::exchange(last.reply, &reply);
  last.push.repeats = push.repeats;
  last.replied_by = Deadline::Clock::now();
  last.gone_at.reset();
  if (!last.due) AddAnswer(last, parameters, answers);
  return answers;
}

void ShardServer::Use(LastPush& last, const PushDecision& verdict, PayloadPtr gradient) {
  const PushInfo& push = last.push;
  if (!verdict.use_gradient) {
    last.dropped = true;
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
  last_[static_cast<std::size_t>(worker)].reset();
  std::erase(contributors_, worker);
}

// Staleness is measured here, when the update is applied: the number of updates since the
// parameters that each gradient was computed from.
void ShardServer::Apply(const Update& update, float scale, std::int64_t step, int last) {
  for (const int worker : contributors_) {
    LastPush* last_push = LastOf(worker);
    if (last_push == nullptr) continue;
    last_push->staleness = shard_.version() - last_push->push.version;
    if (leads_) ++counters_.staleness[last_push->staleness];
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
  events_.AddUpdate(step, shard_.version(), last, begin);
  contributors_.clear();
  if (leads_) ++counters_.updates;
}

// After a worker is taken off the list nothing may throw, because the worker must be answered.
AnswerQueue ShardServer::TakeAnswers(std::span<const int> workers) {
  AnswerQueue answers;
  if (workers.empty()) return answers;
  const ParameterRef parameters = shard_.Reply();
  for (const int worker : workers) {
    LastPush* last = LastOf(worker);
    if (last == nullptr || !last->due) continue;
    last->due = false;
    if (last->waits()) AddAnswer(*last, parameters, answers);
  }
  return answers;
}

void ShardServer::AddAnswer(LastPush& last, const ParameterRef& parameters, AnswerQueue& answers) {
  counters_.bytes_sent += reply_bytes_;
  events_.AddAnswer(last.push, shard_.version(), last.dropped ? -1 : last.staleness);
  answers.Add(*std::exchange(last.reply, nullptr),
              {parameters, shard_.version(), last.staleness, last.dropped});
}

ShardServer::LastPush* ShardServer::LastOf(int worker) {
  std::optional<LastPush>& last = last_[static_cast<std::size_t>(worker)];
  return last ? &*last : nullptr;
}

const ShardServer::LastPush* ShardServer::LastOf(int worker) const {
  const std::optional<LastPush>& last = last_[static_cast<std::size_t>(worker)];
  return last ? &*last : nullptr;
}

// A reply that was taken off the list is refused even if the update fails, because nobody else
// knows of it any more.
void ShardServer::Drop(int worker, const Refusal& refusal) {
  PendingReply* refused = nullptr;
  AnswerQueue answers;
  std::exception_ptr failure;
  {
    const std::lock_guard lock(mutex_);
    if (const LastPush* last = LastOf(worker)) refused = last->reply;
    last_[static_cast<std::size_t>(worker)].reset();
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
  for (std::optional<LastPush>& last : last_) {
    if (!last || last->reply != &reply) continue;
    last->reply = nullptr;
    last->gone_at = gone_at;
    const auto connected = connected_[static_cast<std::size_t>(last->push.worker)];
    if (connected && *connected > last->replied_by) {
      Extend(*last, Deadline(*connected + DilatedClock::ToMachine(kBackGrace)));
    }
    return true;
  }
  return false;
}

void ShardServer::OnWorkerConnected(int worker, Deadline::Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  connected_[static_cast<std::size_t>(worker)] = now;
  if (LastPush* last = LastOf(worker))
    Extend(*last, Deadline(now + DilatedClock::ToMachine(kBackGrace)));
}

void ShardServer::OnWorkerBack(int worker, const Deadline& until) {
  const std::lock_guard lock(mutex_);
  if (LastPush* last = LastOf(worker)) Extend(*last, until);
}

void ShardServer::Extend(LastPush& last, const Deadline& until) {
  if (last.gone_at && last.gone_at->at() < until.at()) last.gone_at = until;
}

bool ShardServer::HasHad(const PushInfo& push) const {
  const std::lock_guard lock(mutex_);
  return IsRepeated(push);
}

std::optional<Refusal> ShardServer::Expired(Deadline::Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (const LastPush* gone = FirstGone();
      gone != nullptr && gone->gone_at && gone->gone_at->at() <= now) {
    const std::string worker = WorkerList({gone->push.worker});
    return Refusal{RefusalCode::kAborted,
                   worker + " is gone: it left while its push of bucket " +
                       std::to_string(bucket_) + ", step " + std::to_string(gone->push.step) +
                       " was waiting",
                   worker};
  }
  for (const std::optional<LastPush>& last : last_) {
    if (!last || !last->waits() || last->deadline.at() > now) continue;
    const std::string missing = WorkerList(consistency_->Missing());
    return Refusal{RefusalCode::kLate,
                   missing + " did not push bucket " + std::to_string(bucket_) +
                       " in time: worker " + std::to_string(last->push.worker) +
                       " waits for it in step " + std::to_string(last->push.step),
                   missing};
  }
  return std::nullopt;
}

const ShardServer::LastPush* ShardServer::FirstGone() const {
  const LastPush* first = nullptr;
  auto earliest = Deadline::Clock::time_point::max();
  for (const std::optional<LastPush>& last : last_) {
    if (!last || !last->gone_at) continue;
    const Deadline::Clock::time_point at = last->gone_at->at();
    if (first != nullptr && at >= earliest) continue;
    first = &*last;
    earliest = at;
  }
  return first;
}

void ShardServer::RefuseAll(const Refusal& refusal) {
  std::vector<PendingReply*> replies;
  {
    const std::lock_guard lock(mutex_);
    if (!refused_with_) refused_with_ = refusal;
    for (std::optional<LastPush>& last : last_) {
      if (last && last->waits()) replies.push_back(std::exchange(last->reply, nullptr));
    }
  }
  for (PendingReply* reply : replies) reply->Refuse(refusal);
}

// A second push would replace the first one, which would then never be answered.
void ShardServer::RequireNoneWaiting(int worker) const {
  const LastPush* last = LastOf(worker);
  if (last == nullptr || !last->waits()) return;
  throw RefusedError(RefusalCode::kDuplicate, "a push of worker " + std::to_string(worker) +
                                                  " of bucket " + std::to_string(bucket_) +
                                                  " waits for its answer already");
}

ShardCounters ShardServer::counters() const {
  const std::lock_guard lock(mutex_);
  ShardCounters counters = counters_;
  counters.waiting = static_cast<int>(std::ranges::count_if(
      last_, [](const std::optional<LastPush>& last) { return last && last->waits(); }));
  counters.copies = shard_.copies();
  return counters;
}

std::optional<ActivityBoard::Entry> ShardServer::LongestWait() const {
  // A shard that is at work waits for nobody. Heartbeats ask, and must not wait for it.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return std::nullopt;
  const LastPush* longest = nullptr;
  for (const std::optional<LastPush>& last : last_) {
    if (!last || !last->waits()) continue;
    if (longest == nullptr || last->arrived < longest->arrived) longest = &*last;
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
  if (refused_with_) throw RefusedError(*refused_with_);
  if (broken_) {
    throw RefusedError(RefusalCode::kAborted,
                       "an update of bucket " + std::to_string(bucket_) + " has failed");
  }
  if (loaded_) return;
  throw RefusedError(RefusalCode::kPrecondition,
                     "bucket " + std::to_string(bucket_) + " has no parameters yet");
}

}  // namespace ringside
