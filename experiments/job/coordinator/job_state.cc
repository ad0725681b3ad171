#include "ringside/experiments/job/coordinator/job_state.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/common/core/store.h"
#include "ringside/experiments/text/json_depth.h"

namespace ringside {
namespace {

[[noreturn]] void Refuse(const std::string& who, const std::string& operation,
                         const std::string& reason) {
  throw CommError(who, operation, reason);
}

}  // namespace

JobState::MemberHandle JobState::Join(const JoinRequest& request) {
  const std::lock_guard lock(mutex_);
  Member who = request.who;
  if (who.index < 0) who.index = FreeIndex(who.role);
  if (const auto reason = WhyRefused(request, who)) {
    const bool told = std::ranges::find(failures_, who, &Failure::who) != failures_.end();
    if (IsAwaited(who) && !told) {
      failures_.push_back({who, FailureKind::kConfig, "the job refused it: it " + *reason});
    }
    throw ConfigError(MemberName(who) + " " + *reason);
  }
  MemberRecord record;
  record.pid = request.pid;
  record.host = request.host;
  record.incarnation = next_incarnation_++;
  record.last_beat = options_.clock();
  members_.emplace(who, record);
  return {who, record.incarnation};
}

bool JobState::IsAwaited(const Member& who) const {
  const Member process = IsAgent(who.role) ? ChildOf(who) : who;
  const int members = process.role == Role::kServer ? options_.servers : options_.workers;
  return process.index < members && !members_.contains(process) && !members_.contains(who);
}

int JobState::FreeIndex(Role role) const {
  int index = 0;
  while (members_.contains({role, index})) ++index;
  return index;
}

std::optional<std::string> JobState::WhyRefused(const JoinRequest& request,
                                                const Member& who) const {
  if (request.protocol != kJobProtocol) {
    return "speaks version " + std::to_string(request.protocol) +
           " of the job's protocol, the coordinator version " + std::to_string(kJobProtocol);
  }
  const bool server = who.role == Role::kServer || who.role == Role::kServerAgent;
  const int members = server ? options_.servers : options_.workers;
  if (who.index >= members) {
    return "cannot join: the job has " + std::to_string(members) +
           (server ? " servers" : " workers");
  }
  if (request.spec_hash != options_.spec_hash) {
    return "was started with another spec (hash " + request.spec_hash.substr(0, 16) +
           ", the job's is " + options_.spec_hash.substr(0, 16) + ")";
  }
  if (const auto found = members_.find(who); found != members_.end()) {
    return "has joined already (pid " + std::to_string(found->second.pid) + " on " +
           found->second.host + ")";
  }
  return std::nullopt;
}

void JobState::Set(const std::string& key, const std::string& value) {
  if (key.empty() || key.size() > kMaxKeyBytes || value.size() > kMaxValueBytes) {
    Refuse("coordinator",
           "setting a key of " + std::to_string(key.size()) + " bytes to a value of " +
               std::to_string(value.size()) + " bytes",
           "a key has 1 to " + std::to_string(kMaxKeyBytes) + " bytes, a value at most " +
               std::to_string(kMaxValueBytes));
  }
  std::vector<Done> ready;
  {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(key);
    if (found != values_.end()) {
      if (found->second != value) Refuse("coordinator", "setting " + key, "it has another value");
      return;
    }
    if (IsLost(key)) Refuse("coordinator", "setting " + key, "the job goes on without this worker");
    if (stored_bytes_ + key.size() + value.size() > kMaxStoreBytes) {
      Refuse("coordinator", "setting " + key, "the store is full");
    }
    stored_bytes_ += key.size() + value.size();
    values_.emplace(key, value);
    ready = TakeWaiters([&key](const std::string& awaited) { return awaited == key; });
  }
  for (const Done& done : ready) done(value);
}

void JobState::Forget(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = values_.find(key);
  if (found == values_.end()) return;
  stored_bytes_ -= found->first.size() + found->second.size();
  values_.erase(found);
}

std::vector<JobState::Done> JobState::TakeWaiters(
    const std::function<bool(const std::string&)>& is_for) {
  std::vector<Done> ready;
  for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
    if (is_for(waiter->second.key)) {
      ready.push_back(std::move(waiter->second.done));
      waiter = waiters_.erase(waiter);
    } else {
      ++waiter;
    }
  }
  return ready;
}

std::uint64_t JobState::WhenSet(const std::string& key, Done done) {
  std::string value(kLostWorkerValue);
  {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(key);
    if (found != values_.end()) {
      value = found->second;
    } else if (!IsLost(key)) {
      const std::uint64_t id = next_waiter_++;
      waiters_.emplace(id, Waiter{key, std::move(done)});
      return id;
    }
  }
  done(value);
  return 0;
}

bool JobState::CancelWait(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  return waiters_.erase(id) == 1;
}

MemberRecord& JobState::Find(const MemberHandle& ticket, const char* operation) {
  const auto found = members_.find(ticket.who);
  if (found == members_.end()) Refuse(MemberName(ticket.who), operation, "it has not joined");
  if (found->second.incarnation != ticket.incarnation) {
    Refuse(MemberName(ticket.who), operation, "another process has taken its place");
  }
  if (found->second.fenced) {
    Refuse(MemberName(ticket.who), operation, "the job goes on without it");
  }
  return found->second;
}

HeartbeatCommand JobState::HandleHeartbeat(const MemberHandle& ticket, Beat beat) {
  const std::lock_guard lock(mutex_);
  MemberRecord& record = Find(ticket, "heartbeat");
  record.last_beat = options_.clock();
  record.next_step = beat.next_step;
  record.activity = beat.activity;
  record.activity_seconds = beat.activity_seconds;
  if (beat.rows_number > record.rows_taken) {
    record.rows_taken = beat.rows_number;
    Incoming& rows = incoming_[ticket.who];
    std::ranges::move(beat.steps, std::back_inserter(rows.steps));
    std::ranges::move(beat.evaluations, std::back_inserter(rows.evaluations));
  }
  if (IsAgent(ticket.who.role) && beat.held) draining_ = true;
  record.knows_suspension = suspended_;
  if (abort_reason_) return {HeartbeatCommand::Kind::kAbort, 0, *abort_reason_};
  if (suspended_) return {HeartbeatCommand::Kind::kSuspended, 0, {}};
  if (!draining_ || ticket.who.role != Role::kWorker) return {};
  if (beat.held) agreement_.Report(ticket.who.index, beat.next_step);
  if (const auto step = agreement_.stop_step()) return {HeartbeatCommand::Kind::kStopAt, *step, {}};
  return {HeartbeatCommand::Kind::kHold, 0, {}};
}

void JobState::SubmitReport(const MemberHandle& ticket, const std::string& report) {
  if (IsTooDeepJson(report)) {
    Refuse(MemberName(ticket.who), "handing in the report", "it is nested too deeply");
  }
  const std::lock_guard lock(mutex_);
  Find(ticket, "handing in the report").report = report;
}

void JobState::SubmitTrace(const MemberHandle& ticket, const TracePiece& piece) {
  const std::lock_guard lock(mutex_);
  Find(ticket, "handing in the trace");
  TracePiece& trace = incoming_[ticket.who].trace;
  if (trace.spans.size() + trace.chunks.size() + piece.spans.size() + piece.chunks.size() >
          kMaxTraceBytes ||
      trace.readings.size() + piece.readings.size() > kMaxClockReadings) {
    Refuse("coordinator", "handing in the trace",
           "it is longer than " + std::to_string(kMaxTraceBytes) + " bytes or " +
               std::to_string(kMaxClockReadings) + " readings of the clock");
  }
  if (!std::ranges::all_of(piece.readings, IsClockReading)) {
    Refuse(MemberName(ticket.who), "handing in the trace",
           "its readings of the clock are no times");
  }
  trace.spans += piece.spans;
  trace.dropped = piece.dropped;
  trace.chunks += piece.chunks;
  trace.dropped_chunks = piece.dropped_chunks;
  trace.readings.insert(trace.readings.end(), piece.readings.begin(), piece.readings.end());
}

void JobState::Fail(const MemberHandle& ticket, const FailureReason& reason) {
  const std::lock_guard lock(mutex_);
  Find(ticket, "reporting a failure");
  failures_.push_back({ticket.who, reason.kind, reason.message, reason.accused});
}

void JobState::ReportChildExit(const MemberHandle& agent, const ChildExit& exit) {
  const std::lock_guard lock(mutex_);
  Find(agent, "reporting the end of its child");
  const Member child = ChildOf(agent.who);
  const auto found = members_.find(child);
  if (found != members_.end()) found->second.ended = true;
  const bool handed_in =
      found != members_.end() && found->second.left && !found->second.report.empty();
  const bool told = std::ranges::find(failures_, child, &Failure::who) != failures_.end();
  if (exit.kind == FailureKind::kEarlyExit && (told || (handed_in && exit.code == 0))) return;
  const char* when = handed_in ? " after it handed in its result" : " before it handed in a result";
  failures_.push_back({child, exit.kind, exit.message + when + QuoteLastLine(exit.last_line)});
}

void JobState::Leave(const MemberHandle& ticket) {
  bool finished = false;
  {
    const std::lock_guard lock(mutex_);
    MemberRecord& record = Find(ticket, "leaving");
    if (record.left) return;  // It heard no answer the first time.
    record.left = true;
    if (ticket.who.role == Role::kWorker) {
      agreement_.Report(ticket.who.index, record.next_step);
      finished = AllWorkersLeft();
    }
  }
  if (finished) Post(kFinishedNotice);
}

bool JobState::AllWorkersLeft() const {
  return std::ranges::count_if(members_, [](const auto& entry) {
           return entry.first.role == Role::kWorker && (entry.second.left || entry.second.dropped);
         }) == options_.workers;
}

bool JobState::IsLost(const std::string& key) const {
  return std::ranges::any_of(members_, [&key](const auto& entry) {
    return entry.second.dropped && IsExchangeKeyOf(key, entry.first.index);
  });
}

int JobState::Post(const std::string& notice) {
  int number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = next_notice_++;
  }
  Set(NoticeKey(number), notice);
  return number;
}

std::optional<int> JobState::Fence(int worker) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = members_.find({Role::kWorker, worker});
    if (found == members_.end() || found->second.left || found->second.fenced) return std::nullopt;
    found->second.fenced = true;
  }
  return Post(std::to_string(worker));
}

void JobState::Drop(int worker) {
  std::vector<Done> ready;
  bool finished = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = members_.find({Role::kWorker, worker});
    if (found == members_.end() || !found->second.fenced || found->second.dropped) return;
    found->second.dropped = true;
    agreement_.Drop(worker);
    ready = TakeWaiters(
        [worker](const std::string& awaited) { return IsExchangeKeyOf(awaited, worker); });
    finished = AllWorkersLeft();
  }
  for (const Done& done : ready) done(std::string(kLostWorkerValue));
  if (finished) Post(kFinishedNotice);
}

void JobState::AddFailure(const Failure& failure) {
  const std::lock_guard lock(mutex_);
  failures_.push_back(failure);
}

void JobState::Forgive(const Member& who) {
  const std::lock_guard lock(mutex_);
  std::erase_if(failures_, [&](const Failure& failure) { return failure.who == who; });
}

void JobState::RequestDrain() {
  const std::lock_guard lock(mutex_);
  draining_ = true;
}

bool JobState::draining() const {
  const std::lock_guard lock(mutex_);
  return draining_;
}

void JobState::Abort(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (!abort_reason_) abort_reason_ = reason;
}

void JobState::Suspend() {
  const std::lock_guard lock(mutex_);
  suspended_ = true;
}

void JobState::Resume() {
  const std::lock_guard lock(mutex_);
  suspended_ = false;
}

bool JobState::AllKnowSuspension() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(members_, [](const auto& entry) {
    return entry.second.left || entry.second.fenced || entry.second.knows_suspension;
  });
}

std::vector<Failure> JobState::failures() const {
  const std::lock_guard lock(mutex_);
  return failures_;
}

std::vector<Member> JobState::Lost() const {
  const std::lock_guard lock(mutex_);
  std::vector<Member> lost;
  for (const auto& [who, record] : members_) {
    if (record.left || record.fenced) continue;
    if (options_.clock() - record.last_beat > options_.lease) lost.push_back(who);
  }
  return lost;
}

bool JobState::Joined(const Member& who) const {
  const std::lock_guard lock(mutex_);
  return members_.contains(who);
}

std::vector<Member> JobState::Workers() const {
  return JoinedWhere([](const Member& who) { return who.role == Role::kWorker; });
}

std::vector<Member> JobState::Agents() const {
  return JoinedWhere([](const Member& who) { return IsAgent(who.role); });
}

template <typename Condition>
std::vector<Member> JobState::JoinedWhere(const Condition& condition) const {
  const std::lock_guard lock(mutex_);
  std::vector<Member> joined;
  for (const auto& [who, record] : members_) {
    if (condition(who)) joined.push_back(who);
  }
  return joined;
}

bool JobState::HasLeft(const Member& who) const {
  const std::lock_guard lock(mutex_);
  const auto found = members_.find(who);
  return found != members_.end() && found->second.left;
}

bool JobState::HasReport(const Member& who) const {
  const std::lock_guard lock(mutex_);
  const auto found = members_.find(who);
  return found != members_.end() && !found->second.report.empty();
}

std::vector<Member> JobState::Missing() const {
  const std::lock_guard lock(mutex_);
  std::vector<Member> missing;
  const auto add = [&](Role role, int count) {
    for (int index = 0; index < count; ++index) {
      if (!members_.contains({role, index})) missing.push_back({role, index});
    }
  };
  add(Role::kWorker, options_.workers);
  add(Role::kServer, options_.servers);
  return missing;
}

bool JobState::Complete() const {
  const std::lock_guard lock(mutex_);
  const auto done = std::ranges::count_if(members_, [](const auto& entry) {
    const MemberRecord& record = entry.second;
    const bool handed_in = record.left && !record.report.empty();
    return !IsAgent(entry.first.role) && (handed_in || record.dropped);
  });
  return done == options_.workers + options_.servers;
}

std::vector<Member> JobState::Unended() const {
  const std::lock_guard lock(mutex_);
  std::vector<Member> running;
  for (const auto& [agent, agent_record] : members_) {
    if (!IsAgent(agent.role) || agent_record.left) continue;
    const Member child = ChildOf(agent);
    const auto found = members_.find(child);
    if (found == members_.end() || !(found->second.ended || found->second.dropped)) {
      running.push_back(child);
    }
  }
  return running;
}

std::optional<MemberRecord> JobState::Record(const Member& who) const {
  const std::lock_guard lock(mutex_);
  const auto found = members_.find(who);
  if (found == members_.end()) return std::nullopt;
  return found->second;
}

Beat JobState::TakeRows(const Member& who) {
  const std::lock_guard lock(mutex_);
  Incoming& rows = incoming_[who];
  Beat beat;
  beat.steps = std::exchange(rows.steps, {});
  beat.evaluations = std::exchange(rows.evaluations, {});
  return beat;
}

TracePiece JobState::TakeTrace(const Member& who) {
  const std::lock_guard lock(mutex_);
  return std::exchange(incoming_[who].trace, {});
}

std::optional<std::string> JobState::Value(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = values_.find(key);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

}  // namespace ringside
