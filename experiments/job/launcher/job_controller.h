#ifndef RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_JOB_CONTROLLER_H_
#define RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_JOB_CONTROLLER_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ringside/experiments/job/coordinator/coordinator.h"
#include "ringside/experiments/job/coordinator/job_state.h"
#include "ringside/experiments/job/fidelity/fidelity_monitor.h"
#include "ringside/experiments/job/launcher/emulated_network.h"
#include "ringside/experiments/job/launcher/lost_workers.h"
#include "ringside/experiments/job/launcher/member_watch.h"
#include "ringside/experiments/job/launcher/rank_starter.h"
#include "ringside/experiments/job/launcher/run_job.h"
#include "ringside/experiments/job/launcher/wait_report.h"
#include "ringside/experiments/job/launcher/worker_rows.h"
#include "ringside/experiments/job/processes/child_group.h"
#include "ringside/experiments/job/processes/member_setup.h"
#include "ringside/experiments/job/summary/summary.h"
#include "ringside/experiments/system/console.h"
#include "ringside/experiments/system/rank_environment.h"
#include "ringside/experiments/system/signal_watch.h"
#include "ringside/experiments/system/suspend_watch.h"

namespace ringside {

/// The part of a job that one process hosts: the coordinator and some of the members.
struct JobControllerPlan {
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  /// Signals count from this time on, because preparing a job may take long.
  std::unique_ptr<SignalWatch> signals = std::make_unique<SignalWatch>();
  bool interrupted = false;        ///< A signal came before anything was started.
  std::vector<MemberSetup> local;  ///< To be started here; coordinator and token are filled in.
  int agents = 0;                  ///< Number of agents; each starts one rank or server.
  /// What a program that this process starts has to start. Absent: others start the agents.
  std::optional<AgentPlan> starter{};
  /// The network of a job on emulated hosts; local members start there. Null for other jobs.
  std::unique_ptr<EmulatedNetwork> network{};
  Coordinator::Options coordinator;
  std::string launcher = "ringside";
  std::chrono::milliseconds join_timeout{30'000};
};

/// Hosts one job from its coordinator to its summary: starts the local members, watches all, ends
/// them when one fails, and writes the bundle. Used once, by one thread; leaves no process behind.
class JobController {
 public:
  /// Creates the bundle's directory and starts the coordinator. Throws `ConfigError`.
  JobController(const RunSpec& spec, const JobOptions& options, JobControllerPlan plan,
                const Environment& environment);
  ~JobController();

  const std::string& target() const { return coordinator_->target(); }
  JobOutcome Run();

 private:
  using Clock = std::chrono::steady_clock;

  void PrepareBundle() const;
  void WarnOfNetwork();
  void StartMembers();
  void StartStarter(AgentPlan& agents);
  /// Watches until the job is complete or must be ended, and decides the status.
  void Watch();
  void TakeSignals();
  /// Ctrl-Z: tells the members, then stops this process.
  void TakeSuspension();
  void WatchStarter();
  void TakeRows();
  /// `kind` and the member to blame, where there are any.
  void Decide(JobStatus status, const std::string& error, std::optional<FailureKind> kind = {},
              const std::string& member = "");
  /// Whether the job loses this worker alone: its connections are broken, nobody else's. Where two
  /// workers are left, nobody can tell whose they are.
  bool GoesOnWithout(const Failure& culprit);
  void DecideFailed(const Failure& culprit);
  /// Whether members may just have given up because this process was stopped for a lease.
  bool WasStoppedTooLong() const;
  std::vector<MemberState> StatesNow() const;
  /// Names stragglers, and keeps what the members were doing when the first of them failed.
  void LookAtStates();
  void Warn(const std::optional<std::string>& warning);
  /// Whether a user asked the run to end, here or at an agent, however late.
  bool StopRequested();
  void DecideComplete();
  /// Tells agents how the job ended, ends the remaining processes, and waits for the agents.
  void EndAll();
  void WaitForAgents();
  void ShowProgress();
  JobOutcome Finish();
  RunRecord MakeRecord() const;
  /// What the workers said last, if the run did not end as it should; else null. Prints it, too.
  nlohmann::json LastWords();
  /// Whether this machine could emulate the network; null without one. Ends the watch.
  nlohmann::json JudgeFidelityOf(const RunRecord& record);

  const RunSpec spec_;
  const JobOptions options_;
  const Environment environment_;
  JobControllerPlan plan_;
  std::unique_ptr<FidelityMonitor> fidelity_;  // null without an emulated network
  const Clock::time_point begin_;
  std::string started_;
  const std::shared_ptr<JobState> shared_job_state_;  // with the coordinator
  JobState& job_state_;
  std::unique_ptr<Coordinator> coordinator_;
  Console own_console_;
  Console& console_;
  WorkerRows rows_;
  ChildGroup children_;
  StragglerWatch stragglers_;
  Clock::time_point next_look_;
  std::vector<std::string> warnings_;
  std::vector<MemberState> states_;            // when the first failure came; empty before
  std::vector<MemberState> states_at_end_;     // when the job was decided
  std::unique_ptr<LostWorkers> lost_workers_;  // null where the job needs every worker
  std::unique_ptr<MemberWatch> member_watch_;  // null until the members are started
  SuspendWatch suspend_watch_;
  std::unique_ptr<RankStarter> starter_;  // null unless the plan has one

  bool signalled_ = false;                      // this process itself; then the next signal kills
  std::optional<Clock::time_point> drain_end_;  // absent until the job shall stop
  std::optional<Clock::time_point> suspend_at_;
  Clock::time_point excused_until_;  // stops until then were before the job, or by Ctrl-Z
  bool decided_ = false;
  JobStatus status_ = JobStatus::kFailed;
  std::string error_;
  std::optional<FailureKind> failure_;
  nlohmann::json failure_record_;  // `FailureRecord`; null without a failure
};

/// The key under which the host tells agents how the job ended, as {"status", "error", "failure"}.
/// "failure" is null unless a member made the job fail.
constexpr const char* kOutcomeKey = "job/outcome";

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_JOB_CONTROLLER_H_
