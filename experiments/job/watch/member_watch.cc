#include "ringside/experiments/job/watch/member_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "ringside/common/base/awake_clock.h"
#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/base/lack_of_resources.h"

namespace ringside {
namespace {

// How long to wait after a first failure, because it may be the consequence of another one. What
// travels over links takes as much longer as the run is slowed down.
constexpr std::chrono::milliseconds kCertainGrace{50};
constexpr std::chrono::milliseconds kTypedGrace{200};
constexpr std::chrono::milliseconds kCommGrace{500};
// For how long a worker has waited for one that does no further step, before it is told.
constexpr double kEndedGraceSeconds = 1;

std::chrono::milliseconds Grace(FailureKind kind) {
  switch (kind) {
    case FailureKind::kOutOfMemory:
    case FailureKind::kSignal:
    case FailureKind::kEarlyExit:
    case FailureKind::kLost:
      return kCertainGrace;
    case FailureKind::kComm:
      return DilatedClock::ToMachine(kCommGrace);
    default:
      return DilatedClock::ToMachine(kTypedGrace);
  }
}

double Seconds(std::chrono::milliseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

/// A library that lacks memory may abort its process, or wait for ever for a thread that could not
/// start, in this process or in a child's. Empty where memory has no limit.
std::string HintOfMemory(const char* effect) {
  const std::optional<std::uint64_t> limit = MemoryLimitKib();
  if (!limit) return "";
  return fmt::format(
      "; the launcher and its children may use {} KiB of memory each (ulimit -v): {}", *limit,
      effect);
}

std::string HintOfAbort(const ProcessEnd& end) {
  const bool aborted = end.signal == SIGABRT || end.signal == SIGSEGV;
  return aborted ? HintOfMemory("without it, a library may abort the process") : "";
}

}  // namespace

MemberWatch::MemberWatch(JobState& job_state, ChildGroup& children, const Options& options)
    : job_state_(job_state), children_(children), options_(options), begin_(AwakeNow()) {}

void MemberWatch::Look() {
  LookAtEnds();
  if (options_.agents_are_here) LookAtAgents();
  LookAtLost();
  LookAtMissing();
  if (options_.runs_user_program && options_.steps_together) LookAtEnded();
}

void MemberWatch::LookAtEnds() {
  for (const ChildGroup::End& child : children_.TakeEnds()) {
    const auto& [who, pid, end, last_line] = child;
    const bool handed_in = job_state_.HasLeft(who) && job_state_.HasReport(who);
    if (end.signal == 0 && end.code == 0 && handed_in) continue;
    const auto failures = job_state_.failures();
    const bool told = std::ranges::find(failures, who, &Failure::who) != failures.end();
    if (end.signal == 0 && told) continue;
    const bool never_came = options_.runs_user_program && who.role == Role::kWorker &&
                            end.signal == 0 && end.code == 0 && !job_state_.Joined(who);
    const char* when = never_came  ? ", without having called ringside.init()"
                       : handed_in ? " after it handed in its result"
                                   : " before it handed in a result";
    AddFailure({who, KindOfEnd(end),
                fmt::format("(pid {}) {}{}{}{}", pid, end.Text(), when,
                            QuoteLastLine(child.LastWord()), HintOfAbort(end))});
  }
}

void MemberWatch::LookAtAgents() {
  const auto has_told = [this](const Member& agent) {
    const auto failures = job_state_.failures();
    return std::ranges::find(failures, agent, &Failure::who) != failures.end();
  };
  for (const Member& agent : job_state_.Agents()) {
    const auto record = job_state_.Record(agent);
    if (!record || record->left) continue;
    const auto pid = static_cast<pid_t>(record->pid);
    const ProcessWatch& process = agents_.try_emplace(agent, pid).first->second;
    // It leaves before it ends. So it is asked again whether it has left, after its end.
    if (!process.HasEnded() || job_state_.HasLeft(agent) || has_told(agent)) continue;
    job_state_.AddFailure({agent, FailureKind::kEarlyExit,
                           fmt::format("(pid {}) ended without saying why", record->pid)});
  }
}

void MemberWatch::LookAtLost() {
  for (const Member& who : job_state_.Lost()) {
    const auto record = job_state_.Record(who);
    if (!record) continue;
    AddLost(who, fmt::format("(pid {} on {}) is lost: no heartbeat for {} s", record->pid,
                             record->host, Seconds(options_.lease)));
  }
}

void MemberWatch::LookAtMissing() {
  if (AwakeNow() - begin_ < options_.join_timeout) return;
  std::vector<Member> missing = job_state_.Missing();
  const auto has_agent = [this](const Member& who) { return job_state_.Joined(AgentOf(who)); };
  // Processes whose agents are there may be waiting for the others.
  if (options_.host_of && !std::ranges::all_of(missing, has_agent)) {
    std::erase_if(missing, has_agent);
  }
  for (const Member& who : missing) {
    const std::string host = options_.host_of ? options_.host_of(who) : "";
    const bool is_program = options_.runs_user_program && who.role == Role::kWorker;
    AddLost(who, fmt::format("did not join within {} s{}{}", Seconds(options_.join_timeout),
                             is_program ? ": the program has not called ringside.init()" : "",
                             host.empty() ? "" : "; it was to run on " + host));
  }
}

void MemberWatch::LookAtEnded() {
  std::optional<std::pair<Member, std::int64_t>> ended;  // the one with the fewest steps
  std::optional<std::pair<Member, Activity>> waiting;    // the one with the most
  for (const Member& who : job_state_.Workers()) {
    const auto record = job_state_.Record(who);
    if (!record) continue;
    const Activity& doing = record->activity;
    const bool waits =
        (doing.kind == Activity::Kind::kAwait || doing.kind == Activity::Kind::kSettle) &&
        record->activity_seconds > kEndedGraceSeconds;
    // Its last word is later than the begin of a wait that counts.
    const std::chrono::duration<double> silent = AwakeNow() - record->last_beat;
    const bool fresh = record->left || silent.count() / DilatedClock::Factor() < kEndedGraceSeconds;
    if (doing.kind == Activity::Kind::kEnded && fresh && (!ended || doing.step < ended->second)) {
      ended = {who, doing.step};
    }
    if (waits && (!waiting || doing.step > waiting->second.step)) waiting = {who, doing};
  }
  if (!ended || !waiting || waiting->second.step <= ended->second || too_early_) return;
  too_early_ = true;
  AddFailure({ended->first, FailureKind::kProgram,
              fmt::format("its program ended the training after {} steps, but {} {}", ended->second,
                          MemberName(waiting->first), waiting->second.Text())});
}

void MemberWatch::AddLost(const Member& who, const std::string& message) {
  if (std::ranges::find(lost_, who) != lost_.end()) return;
  lost_.push_back(who);
  // Processes of other hosts may have another limit, and other reasons to be silent.
  const bool has_this_limit = options_.all_are_children || options_.agents_are_here;
  AddFailure({who, FailureKind::kLost,
              has_this_limit
                  ? message + HintOfMemory("without it, a library may wait for a thread for ever")
                  : message});
}

void MemberWatch::AddFailure(const Failure& failure) {
  if (options_.goes_on_without && options_.goes_on_without(failure)) return;
  job_state_.AddFailure(failure);
}

std::optional<Failure> MemberWatch::Culprit() {
  const std::vector<Failure> failures = job_state_.failures();
  if (failures.empty()) {
    decide_at_.reset();  // the failures that there were are forgiven
    return std::nullopt;
  }
  const Failure& culprit = RootCause(failures);
  const Clock::time_point now = Clock::now();
  const Clock::time_point at = now + Grace(culprit.kind);
  if (!decide_at_ || at < *decide_at_) decide_at_ = at;
  const bool none_can_follow = options_.all_are_children && children_.all_ends_taken();
  if (now < *decide_at_ && !none_can_follow) return std::nullopt;
  return culprit;
}

}  // namespace ringside
