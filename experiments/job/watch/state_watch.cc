#include "ringside/experiments/job/watch/state_watch.h"

#include <algorithm>

#include "ringside/common/base/awake_clock.h"
#include "ringside/common/base/dilated_clock.h"
#include "ringside/experiments/spec/server_layout.h"

namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookInterval{250};
// That the summary keeps.
constexpr std::size_t kMostWarnings = 100;

}  // namespace

StateWatch::StateWatch(const RunSpec& spec, const JobState& job_state, Console& console,
                       Clock::time_point begin)
    : spec_(spec),
      job_state_(job_state),
      console_(console),
      begin_(begin),
      servers_(LayoutServers(spec).dedicated) {}

std::vector<MemberState> StateWatch::StatesNow() const {
  return MemberStates(job_state_, spec_.workers, servers_, AwakeNow());
}

void StateWatch::Look() {
  if (!at_failure_.empty()) return;
  if (!job_state_.failures().empty()) {
    at_failure_ = StatesNow();
    return;
  }
  const Clock::time_point now = Clock::now();
  if (now < next_look_) return;
  next_look_ = now + kLookInterval;
  const std::vector<MemberState> members = StatesNow();
  Warn(stragglers_.NameSilent(members));
  const std::chrono::duration<double> run_time = (now - begin_) / DilatedClock::Factor();
  Warn(stragglers_.NameLongCheckpoint(members, run_time.count()));
  // Where the user asked for stragglers, they are no news.
  if (spec_.straggler.kind != StragglerOptions::Kind::kNone) return;
  Warn(stragglers_.NameSlow(members, run_time.count()));
}

void StateWatch::Warn(const std::optional<std::string>& warning) {
  if (!warning) return;
  console_.Print("warning: " + *warning);
  if (warnings_.size() < kMostWarnings) warnings_.push_back(*warning);
}

nlohmann::json StateWatch::LastWords() const {
  const std::vector<MemberState>& states = at_failure_.empty() ? at_end_ : at_failure_;
  const bool any_began = std::ranges::any_of(states, [](const MemberState& member) {
    return member.who.role == Role::kWorker && member.activity.kind != Activity::Kind::kUnknown;
  });
  if (any_began) console_.Print("last words: " + WaitText(states));
  return WaitJson(states);
}

}  // namespace ringside
