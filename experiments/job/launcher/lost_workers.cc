#include "ringside/experiments/job/launcher/lost_workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "ringside/common/base/awake_clock.h"
#include "ringside/experiments/job/launcher/cluster_run.h"
#include "ringside/experiments/job/processes/member_setup.h"
#include "ringside/experiments/job/watch/wait_report.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/server_layout.h"

namespace ringside {
namespace {

/// Whether the process itself is gone or frozen. Other failures, such as a loss that is not a
/// number, are not those of one worker.
bool IsGone(FailureKind kind) {
  return kind == FailureKind::kOutOfMemory || kind == FailureKind::kSignal ||
         kind == FailureKind::kEarlyExit || kind == FailureKind::kLost;
}

}  // namespace

bool DropsLostWorkers(const RunSpec& spec, const JobOptions& options) {
  if (options.recovery.on_failure != OnFailure::kShrink || options.bench) return false;
  // Agents report the end of their processes as failures of the run.
  if (LauncherOf(spec, options.launcher) != LauncherProgram::kRingside) return false;
  const StrategyEntry* entry = spec.catalog().FindStrategy(spec.strategy);
  return entry != nullptr && entry->traits.drops_workers && LayoutServers(spec).colocated == 0;
}

bool LostWorkers::Take(const Failure& failure) {
  const Member& who = failure.who;
  if (who.role != Role::kWorker) return false;
  if (std::ranges::find(all_, who.index, &LostWorker::index) != all_.end()) return true;
  if (!IsGone(failure.kind) || !WhyNot(failure).empty()) return false;
  const auto record = job_state_.Record(who);
  nlohmann::json last_words = LastWords(who);  // before the job forgets it
  const std::optional<int> notice = job_state_.Fence(who.index);
  if (!record || !notice) return false;
  children_.Kill(who);
  all_.push_back({.index = who.index,
                  .step = record->next_step,
                  .reason = failure.Text(),
                  .last_words = std::move(last_words)});
  pending_.push_back({.worker = who.index, .notice = *notice, .since = AwakeNow()});
  const int left = options_.workers - static_cast<int>(all_.size());
  console_.EndProgress();
  console_.Print(fmt::format("{}; the run goes on with {} worker{}", failure.Text(), left,
                             left == 1 ? "" : "s"));
  return true;
}

nlohmann::json LostWorkers::LastWords(const Member& lost) const {
  auto states = MemberStates(job_state_, options_.workers, options_.servers, AwakeNow());
  for (MemberState& state : states) state.failed = state.failed || state.who == lost;
  return WaitJson(states);
}

std::string LostWorkers::WhyNot(const Failure& failure) const {
  const Member& who = failure.who;
  if (who.role != Role::kWorker || !IsGone(failure.kind)) return "";
  if (who.index == 0) {
    return "the run cannot go on without worker 0, which writes its parameters and results";
  }
  if (!job_state_.Value(TrainsKey(who.index))) return "it had not begun to train";
  return "";
}

void LostWorkers::Look() {
  std::erase_if(pending_, [this](const Pending& pending) {
    const int late = ServerThatHasNot(pending.notice);
    if (late < 0) {
      job_state_.Drop(pending.worker);
      return true;
    }
    if (AwakeNow() - pending.since < options_.drop_time) return false;
    job_state_.AddFailure(
        {{Role::kServer, late},
         FailureKind::kLost,
         fmt::format("did not drop the lost worker {} within {:g} s", pending.worker,
                     std::chrono::duration<double>(options_.drop_time).count())});
    return true;
  });
}

int LostWorkers::ServerThatHasNot(int notice) const {
  for (int server = 0; server < options_.servers; ++server) {
    if (!job_state_.Value(JobState::ObeyedKey(notice, server))) return server;
  }
  return -1;
}

}  // namespace ringside
