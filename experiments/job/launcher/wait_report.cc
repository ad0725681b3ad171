#include "ringside/experiments/job/launcher/wait_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "ringside/common/core/dilated_clock.h"

namespace ringside {
namespace {

// Beats come four times a second.
constexpr double kSilentSeconds = 1.5;
constexpr std::size_t kRecentSteps = 64;
constexpr std::size_t kFewestSteps = 5;
constexpr double kSlowFactor = 3;
constexpr double kLeastSlowSeconds = 1;
constexpr double kQuietSeconds = 60;

nlohmann::json OrNull(const std::string& text) {
  return text.empty() ? nlohmann::json() : nlohmann::json(text);
}

bool Silent(const WorkerState& worker) { return worker.silent_seconds > kSilentSeconds; }

/// Those of `HeldUpBy` come first.
std::vector<const WorkerState*> CausesFirst(std::span<const WorkerState> workers) {
  const std::vector<int> causes = HeldUpBy(workers);
  std::vector<const WorkerState*> ordered;
  for (const WorkerState& worker : workers) ordered.push_back(&worker);
  std::ranges::stable_partition(ordered, [&](const WorkerState* worker) {
    return std::ranges::find(causes, worker->rank) != causes.end();
  });
  return ordered;
}

}  // namespace

std::string WorkerState::Text() const {
  std::string text = fmt::format("worker {}", rank);
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

std::vector<WorkerState> WorkerStates(const JobState& job, int workers,
                                      std::chrono::steady_clock::time_point now) {
  std::vector<WorkerState> states;
  const std::vector<Failure> failures = job.failures();
  for (int rank = 0; rank < workers; ++rank) {
    const auto record = job.Record({Role::kWorker, rank});
    if (!record || record->fenced) continue;
    const std::chrono::duration<double> silent = now - record->last_beat;
    states.push_back({.rank = rank,
                      .activity = record->activity,
                      .activity_seconds = record->activity_seconds,
                      .silent_seconds = silent.count() / DilatedClock::Factor(),
                      .left = record->left,
                      .failed = std::ranges::find(failures, Member{Role::kWorker, rank},
                                                  &Failure::who) != failures.end()});
  }
  return states;
}

std::vector<int> HeldUpBy(std::span<const WorkerState> workers) {
  std::vector<int> failed, silent, busy;
  bool others_wait = false;
  for (const WorkerState& worker : workers) {
    if (worker.left) continue;
    if (worker.failed) {
      failed.push_back(worker.rank);
    } else if (Silent(worker)) {
      silent.push_back(worker.rank);
    } else if (worker.activity.waits_for_others()) {
      others_wait = true;
    } else {
      busy.push_back(worker.rank);
    }
  }
  if (!failed.empty()) return failed;
  if (!silent.empty()) return silent;
  return others_wait ? busy : std::vector<int>();
}

std::string WaitText(std::span<const WorkerState> workers) {
  std::vector<std::string> texts;
  for (const WorkerState* worker : CausesFirst(workers)) texts.push_back(worker->Text());
  return fmt::format("{}", fmt::join(texts, "; "));
}

nlohmann::json WaitJson(std::span<const WorkerState> workers) {
  nlohmann::json rows = nlohmann::json::array();
  for (const WorkerState* worker : CausesFirst(workers)) {
    const Activity& activity = worker->activity;
    rows.push_back(
        {{"worker", worker->rank},
         {"text", worker->Text()},
         {"activity", OrNull(activity.Text())},
         {"step", activity.step},
         {"bucket", activity.bucket < 0 ? nlohmann::json() : nlohmann::json(activity.bucket)},
         {"seconds", worker->activity_seconds},
         {"silent_seconds", worker->silent_seconds},
         {"left", worker->left},
         {"failed", worker->failed}});
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

bool StragglerWatch::IsSlow(const WorkerState& worker, double limit_seconds) {
  if (Silent(worker)) return true;
  // The others are part of no step.
  const bool in_a_step = worker.activity.kind == Activity::Kind::kCompute ||
                         worker.activity.kind == Activity::Kind::kData;
  return in_a_step && worker.activity_seconds + worker.silent_seconds > limit_seconds;
}

std::optional<std::string> StragglerWatch::Look(std::span<const WorkerState> workers, double now) {
  if (last_warning_ && now - *last_warning_ < kQuietSeconds) return std::nullopt;
  const std::optional<double> median = MedianSeconds();
  if (!median) return std::nullopt;
  const double limit = std::max(kSlowFactor * *median, kLeastSlowSeconds);
  // Workers of asynchronous strategies wait often, but not for each other.
  const auto waiting = std::ranges::count_if(workers, [&](const WorkerState& worker) {
    return !worker.left && !Silent(worker) && worker.activity.waits_for_others() &&
           worker.activity_seconds + worker.silent_seconds >= limit / 2;
  });
  const std::vector<int> causes = HeldUpBy(workers);
  std::vector<std::string> texts;
  for (const WorkerState& worker : workers) {
    const bool is_cause = std::ranges::find(causes, worker.rank) != causes.end();
    if (!is_cause || !IsSlow(worker, limit) || (waiting == 0 && !Silent(worker))) continue;
    texts.push_back(worker.Text());
  }
  if (texts.empty()) return std::nullopt;
  last_warning_ = now;
  return fmt::format("warning: {}; {} for it, and a step takes {:.3f} s", fmt::join(texts, "; "),
                     waiting == 1 ? "1 worker waits" : fmt::format("{} workers wait", waiting),
                     *median);
}

}  // namespace ringside
