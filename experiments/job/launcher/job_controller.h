#ifndef RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_JOB_CONTROLLER_H_
#define RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_JOB_CONTROLLER_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ringside/common/base/file_descriptor.h"
#include "ringside/experiments/job/agents/rank_starter.h"
#include "ringside/experiments/job/coordinator/coordinator.h"
#include "ringside/experiments/job/coordinator/job_state.h"
#include "ringside/experiments/job/core/job_options.h"
#include "ringside/experiments/job/core/job_outcome.h"
#include "ringside/experiments/job/core/job_verdict.h"
#include "ringside/experiments/job/fidelity/fidelity_monitor.h"
#include "ringside/experiments/job/launcher/completed_job.h"
#include "ringside/experiments/job/launcher/emulated_network.h"
#include "ringside/experiments/job/launcher/lost_workers.h"
#include "ringside/experiments/job/launcher/stop_requests.h"
#include "ringside/experiments/job/launcher/worker_rows.h"
#include "ringside/experiments/job/processes/child_group.h"
#include "ringside/experiments/job/processes/member_setup.h"
#include "ringside/experiments/job/summary/summary.h"
#include "ringside/experiments/job/watch/member_watch.h"
#include "ringside/experiments/job/watch/state_watch.h"
#include "ringside/experiments/system/environment/rank_environment.h"
#include "ringside/experiments/system/output/console.h"
#include "ringside/experiments/system/processes/signal_watch.h"

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
  void WatchMembers();
  void WatchStarter();
  void TakeRows();
  /// Whether the last rows are in the bundle. If they cannot be written, the run has failed.
  bool RowsAreWritten();
  /// Whether the job loses this worker alone: its connections are broken, nobody else's. Where two
  /// workers are left, nobody can tell whose they are.
  bool GoesOnWithout(const Failure& culprit);
  void DecideFailed(const Failure& culprit);
  void DecideComplete();
  /// Tells agents how the job ended, ends the remaining processes, and waits for the agents.
  void EndAll();
  void WaitForAgents();
  void ShowProgress();
  JobOutcome Finish();
  RunRecord MakeRecord() const;
  /// Whether the job ended as it should, or diverged. Then nobody asks what its members said last.
  bool EndedInOrder() const;
  void PruneKept() const;
  /// Whether this machine could emulate the network; null without one. Ends the watch.
  nlohmann::json JudgeFidelityOf(const RunRecord& record);
  /// Whether the strategy connects processes on several emulated hosts.
  bool HostsMustConnect() const;

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
  const FileDescriptor bundle_lock_;
  WorkerRows rows_;
  ChildGroup children_;
  StateWatch states_;
  StopRequests stops_;
  JobVerdict verdict_;
  CompletedJob completed_;
  std::unique_ptr<LostWorkers> lost_workers_;  // null where the job needs every worker
  std::unique_ptr<MemberWatch> member_watch_;  // null until the members are started
  std::unique_ptr<RankStarter> starter_;       // null unless the plan has one
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_JOB_CONTROLLER_H_
