#include "ringside/experiments/job/agents/rank_agent.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/checkpoint/checkpoint_folder.h"
#include "ringside/experiments/job/core/job_verdict.h"
#include "ringside/experiments/system/files/trusted_path.h"

namespace ringside {
namespace {

constexpr std::chrono::milliseconds kTick{20};
constexpr std::chrono::milliseconds kTermGrace{2'000};
constexpr std::chrono::milliseconds kOutcomeTimeout{3'000};
constexpr std::chrono::milliseconds kOutcomePoll{100};
constexpr std::chrono::milliseconds kTellTimeout{500};
constexpr std::chrono::seconds kJoinTimeout{60};

std::string LogDirectory(const std::string& bundle_dir) {
  MakeDirectories(bundle_dir + "/logs");
  return bundle_dir + "/logs";
}

/// The store of a job, whose waits also end when the job has ended.
class StoreOfJob : public Store {
 public:
  StoreOfJob(CoordinatorClient& client, std::function<bool()> has_ended)
      : client_(client), has_ended_(std::move(has_ended)) {}

  void Set(std::string_view key, std::string_view value) override { client_.Set(key, value); }

  std::string Get(std::string_view key, const Deadline& deadline) override {
    constexpr std::chrono::milliseconds kSlice{250};
    while (true) {
      const Deadline slice(std::min(deadline.at(), Deadline::After(kSlice).at()));
      try {
        return client_.Get(key, slice);
      } catch (const CommError&) {
        if (has_ended_() || deadline.expired()) throw;
      }
    }
  }

 private:
  CoordinatorClient& client_;
  const std::function<bool()> has_ended_;
};

}  // namespace

RankAgent::RankAgent(MemberSetup setup, const JobOptions& options, std::optional<Launched> launched)
    : setup_(std::move(setup)),
      options_(options),
      launched_(std::move(launched)),
      console_(Console::Options{.show_progress = false}),
      client_({.target = setup_.coordinator, .token = setup_.token, .tls = setup_.tls}),
      children_({LogDirectory(options.bundle_dir), options.echo_logs, options.program}, console_) {}

JobOutcome RankAgent::Run() {
  Join();
  MeasureLinks();
  StartChild();
  JobOutcome outcome = Watch();
  children_.EndAll(kTermGrace);
  // The host of the job does not see this directory where hosts have their own.
  for (const auto& [who, pid] : children_.started()) {
    RemoveTemporaryCheckpoints(options_.bundle_dir + "/checkpoints", pid);
  }
  children_.DrainLogs();
  heartbeat_.reset();
  const auto end = EndOfJob();
  if (end && end->silent) return outcome;
  try {
    client_.Leave();
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
    // The host is gone, or has already learned of this agent's failure.
  }
  return outcome;
}

void RankAgent::Join() {
  client_.Join({.who = AgentOf(setup_.who),
                .pid = ::getpid(),
                .host = setup_.world.host,
                .spec_hash = SpecHash(setup_.spec)},
               Deadline::After(kJoinTimeout));
  heartbeat_ = std::make_unique<Heartbeat>(
      client_, drain_barrier_, buffer_,
      Heartbeat::Options{.wants_drain = [this] { return wants_drain_.load(); }},
      [this](const HeartbeatEnd& end) {
        const std::lock_guard lock(mutex_);
        job_ended_ = end;
      });
}

void RankAgent::MeasureLinks() {
  if (!launched_ || !launched_->links) return;
  StoreOfJob store(client_, [this] { return EndOfJob().has_value(); });
  const Deadline deadline = Deadline::After(launched_->measure_timeout);
  try {
    ringside::MeasureLinks(*launched_->links, store, deadline);
    const auto rates =
        MeasuredLinks(static_cast<int>(launched_->links->hosts.size()),
                      [&](const std::string& key) { return store.Get(key, deadline); });
    if (rates) setup_.measured_bytes_per_s = std::ranges::min(*rates);
  } catch (const CommError& error) {
    client_.Fail({FailureKind::kComm, error.what()});
    throw;
  }
}

void RankAgent::StartChild() {
  try {
    children_.Start(setup_);
  } catch (const Error&) {
    client_.Fail(ReasonOfCurrentException());
    throw;
  }
}

std::optional<HeartbeatEnd> RankAgent::EndOfJob() const {
  const std::lock_guard lock(mutex_);
  return job_ended_;
}

JobOutcome RankAgent::Watch() {
  while (true) {
    children_.Poll(kTick, signals_.fd());
    const bool killed = KillRequested();
    if (const auto end = EndOfJob()) {
      if (end->silent) {
        const std::string error =
            fmt::format("rank 0 at {}, which hosts the coordinator, is lost: {}",
                        setup_.coordinator, end->reason);
        return {JobStatus::kFailed, error, nullptr, FailureKind::kLost};
      }
      return AskOutcome(Deadline::After(kOutcomeTimeout))
          .value_or(JobOutcome{JobStatus::kFailed, end->reason, nullptr});
    }
    TellEnds();
    if (killed) return {JobStatus::kInterrupted, "interrupted: killed", nullptr};
    if (!children_.all_ended()) continue;
    if (auto outcome = AskOutcome(Deadline::After(kOutcomePoll))) return *std::move(outcome);
  }
}

bool RankAgent::KillRequested() {
  int count = signals_.Take();
  if (launched_) return false;
  if (count > 0 && !wants_drain_.exchange(true)) --count;
  return count > 0;
}

void RankAgent::TellEnds() {
  for (ChildGroup::End& end : children_.TakeEnds()) untold_.push_back(end);
  while (!untold_.empty()) {
    const ChildGroup::End& child = untold_.front();
    try {
      // Code 0 is no failure if the child sent its result, which only the coordinator knows.
      client_.ReportChildExit({.kind = KindOfEnd(child.end),
                               .code = child.end.code,
                               .message = fmt::format("(pid {}) {}", child.pid, child.end.Text()),
                               .last_line = child.LastWord()},
                              Deadline::After(kTellTimeout));
    } catch (const CommError&) {
      return;  // The coordinator may be slow. If it is lost, the heartbeat says so.
    }
    untold_.erase(untold_.begin());
  }
}

std::optional<JobOutcome> RankAgent::AskOutcome(const Deadline& deadline) {
  try {
    JobOutcome outcome = OutcomeFromText(client_.Get(kOutcomeKey, deadline));
    outcome.stop_requested = outcome.stop_requested || wants_drain_.load();
    return outcome;
  } catch (const CommError&) {
    return std::nullopt;
  }
}

}  // namespace ringside
