#include "ringside/experiments/job/watch/wait_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "ringside/common/base/dilated_clock.h"

namespace ringside {
namespace {

// Beats come four times a second.
constexpr double kSilentSeconds = 1.5;
// A part of the lease, and more than a busy machine needs.
constexpr double kNamedSilenceSeconds = 2;
constexpr std::size_t kRecentSteps = 64;
constexpr std::size_t kFewestSteps = 5;
constexpr double kSlowFactor = 3;
constexpr double kLeastSlowSeconds = 1;
constexpr double kLongCheckpointSeconds = 10;
constexpr double kQuietSeconds = 60;
// Members that become slow within this time share a line.
constexpr double kLeastGapSeconds = 5;

nlohmann::json OrNull(const std::string& text) {
  return text.empty() ? nlohmann::json() : nlohmann::json(text);
}

bool Silent(const MemberState& member) { return member.silent_seconds > kSilentSeconds; }

/// Those of `HeldUpBy` come first.
std::vector<const MemberState*> CausesFirst(std::span<const MemberState> members) {
  const std::vector<Member> causes = HeldUpBy(members);
  std::vector<const MemberState*> ordered;
  for (const MemberState& member : members) ordered.push_back(&member);
  std::ranges::stable_partition(ordered, [&](const MemberState* member) {
    return std::ranges::find(causes, member->who) != causes.end();
  });
  return ordered;
}

}  // namespace

std::string MemberState::Text() const {
  std::string text = MemberName(who);
  const std::string doing = activity.Text();
  if (left || failed) {
    text += failed ? " has failed" : " has handed in its result";
    if (!doing.empty()) text += fmt::format(" (its last word: it {})", doing);
  } else if (doing.empty()) {
    text += " has not begun";
  } else {
    text += fmt::format(" {} for {:.1f} s", doing, activity_seconds + silent_seconds);
  }
  if (!left && !failed && Silent(*this)) {
    text += fmt::format(", has been silent for {:.1f} s", silent_seconds);
  }
  return text;
}

std::vector<MemberState> MemberStates(const JobState& job, int workers, int servers,
                                      std::chrono::steady_clock::time_point now) {
  std::vector<MemberState> states;
  const std::vector<Failure> failures = job.failures();
  const auto add = [&](const Member& who) {
    const auto record = job.Record(who);
    if (!record || record->fenced) return;
    const std::chrono::duration<double> silent = now - record->last_beat;
    states.push_back({.who = who,
                      .activity = record->activity,
                      .activity_seconds = record->activity_seconds,
                      .silent_seconds = silent.count() / DilatedClock::Factor(),
                      .left = record->left,
                      .failed = std::ranges::find(failures, who, &Failure::who) != failures.end()});
  };
  for (int rank = 0; rank < workers; ++rank) add({Role::kWorker, rank});
  for (int index = 0; index < servers; ++index) add({Role::kServer, index});
  return states;
}

std::vector<Member> HeldUpBy(std::span<const MemberState> members) {
  std::vector<Member> failed, silent, busy;
  bool others_wait = false;
  for (const MemberState& member : members) {
    if (member.left) continue;
    if (member.failed) {
      failed.push_back(member.who);
    } else if (Silent(member)) {
      silent.push_back(member.who);
    } else if (member.who.role != Role::kWorker) {
      continue;  // a server that lives holds nobody up by itself
    } else if (member.activity.waits_for_others()) {
      others_wait = true;
    } else {
      busy.push_back(member.who);
    }
  }
  if (!failed.empty()) return failed;
  if (!silent.empty()) return silent;
  return others_wait ? busy : std::vector<Member>();
}

std::string WaitText(std::span<const MemberState> members) {
  std::vector<std::string> texts;
  for (const MemberState* member : CausesFirst(members)) texts.push_back(member->Text());
  return fmt::format("{}", fmt::join(texts, "; "));
}

nlohmann::json WaitJson(std::span<const MemberState> members) {
  nlohmann::json rows = nlohmann::json::array();
  for (const MemberState* member : CausesFirst(members)) {
    const Activity& activity = member->activity;
    rows.push_back(
        {{"member", MemberName(member->who)},
         {"text", member->Text()},
         {"activity", OrNull(activity.Text())},
         {"step", activity.step},
         {"bucket", activity.bucket < 0 ? nlohmann::json() : nlohmann::json(activity.bucket)},
         {"peer", OrNull(activity.peer.Name())},
         {"seconds", member->activity_seconds},
         {"silent_seconds", member->silent_seconds},
         {"left", member->left},
         {"failed", member->failed}});
  }
  return rows;
}

void StragglerWatch::AddSteps(std::span<const StepRecord> steps) {
  for (const StepRecord& step : steps) recent_ms_.push_back(step.step_ms);
  while (recent_ms_.size() > kRecentSteps) recent_ms_.pop_front();
}

std::optional<double> StragglerWatch::MedianSeconds() const {
  if (recent_ms_.size() < kFewestSteps) return std::nullopt;
  std::vector<double> sorted(recent_ms_.begin(), recent_ms_.end());
  std::ranges::nth_element(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2));
  return sorted[sorted.size() / 2] / 1000;
}

bool StragglerWatch::WarnedLately(Warnings& warnings, const Member& who, double now) {
  const auto [last, is_first] = warnings.try_emplace(who, now);
  if (is_first) return false;
  if (now - last->second < kQuietSeconds) return true;
  last->second = now;
  return false;
}

bool StragglerWatch::IsSlow(const MemberState& member, double limit_seconds) {
  // The others are part of no step.
  const bool in_a_step = member.activity.kind == Activity::Kind::kCompute ||
                         member.activity.kind == Activity::Kind::kData;
  return in_a_step && member.activity_seconds + member.silent_seconds > limit_seconds;
}

std::optional<std::string> StragglerWatch::NameSilent(std::span<const MemberState> members) {
  std::vector<std::string> texts;
  for (const MemberState& member : members) {
    if (member.left || member.failed || !Silent(member)) {
      silent_.erase(member.who);
    } else if (member.silent_seconds >= kNamedSilenceSeconds && silent_.insert(member.who).second) {
      texts.push_back(member.Text());
    }
  }
  if (texts.empty()) return std::nullopt;
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::optional<std::string> StragglerWatch::NameSlow(std::span<const MemberState> members,
                                                    double now) {
  if (last_warning_ && now - *last_warning_ < kLeastGapSeconds) return std::nullopt;
  const std::optional<double> median = MedianSeconds();
  if (!median) return std::nullopt;
  const double limit = std::max(kSlowFactor * *median, kLeastSlowSeconds);
  // Workers of asynchronous strategies wait often, but not for each other.
  const auto waiting = std::ranges::count_if(members, [&](const MemberState& member) {
    return member.who.role == Role::kWorker && !member.left && !Silent(member) &&
           member.activity.waits_for_others() &&
           member.activity_seconds + member.silent_seconds >= limit / 2;
  });
  const std::vector<Member> causes = HeldUpBy(members);
  std::vector<std::string> texts;
  for (const MemberState& member : members) {
    const bool is_cause = std::ranges::find(causes, member.who) != causes.end();
    if (!is_cause || Silent(member) || !IsSlow(member, limit) || waiting == 0) continue;
    if (!WarnedLately(slow_, member.who, now)) texts.push_back(member.Text());
  }
  if (texts.empty()) return std::nullopt;
  last_warning_ = now;
  return fmt::format("{}; {} for {}, and a step takes {:.3f} s", fmt::join(texts, "; "),
                     waiting == 1 ? "1 worker waits" : fmt::format("{} workers wait", waiting),
                     texts.size() == 1 ? "it" : "them", *median);
}

std::optional<std::string> StragglerWatch::NameLongCheckpoint(std::span<const MemberState> members,
                                                              double now) {
  const std::vector<Member> causes = HeldUpBy(members);
  std::vector<std::string> texts;
  for (const MemberState& member : members) {
    const bool is_cause = std::ranges::find(causes, member.who) != causes.end();
    const bool is_long = member.activity.kind == Activity::Kind::kCheckpoint &&
                         member.activity_seconds + member.silent_seconds >= kLongCheckpointSeconds;
    if (!is_cause || Silent(member) || !is_long) continue;
    if (!WarnedLately(long_checkpoints_, member.who, now)) texts.push_back(member.Text());
  }
  if (texts.empty()) return std::nullopt;
  return fmt::format("{}, and the other workers wait", fmt::join(texts, "; "));
}

}  // namespace ringside
