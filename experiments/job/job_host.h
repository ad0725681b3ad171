#ifndef RINGSIDE_EXPERIMENTS_JOB_JOB_HOST_H_
#define RINGSIDE_EXPERIMENTS_JOB_JOB_HOST_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/job/child_group.h"
#include "experiments/job/console.h"
#include "experiments/job/coordinator.h"
#include "experiments/job/emulated_network.h"
#include "experiments/job/job_board.h"
#include "experiments/job/member_setup.h"
#include "experiments/job/metrics_log.h"
#include "experiments/job/progress.h"
#include "experiments/job/rank_environment.h"
#include "experiments/job/rank_starter.h"
#include "experiments/job/run_job.h"
#include "experiments/job/signal_watch.h"
#include "experiments/job/summary.h"

namespace ringside {

/// What one process hosts of a job: its coordinator and some of its members.
struct HostPlan {
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  /// From here on: what is prepared before the job may take long.
  std::unique_ptr<SignalWatch> signals = std::make_unique<SignalWatch>();
  bool interrupted = false;        ///< One came before there was anything to start.
  std::vector<MemberSetup> local;  ///< To be started here; coordinator and token are filled in.
  int agents = 0;  ///< Agents of other ranks and servers, which start them themselves.
  /// What mpirun's agents are told: worker 0's part. Without: agents come by themselves.
  std::optional<MemberSetup> mpirun{};
  /// Of a job on emulated hosts: the local members start there.
  std::unique_ptr<EmulatedNetwork> network{};
  Coordinator::Options coordinator;
  std::string launcher = "ringside";
  std::chrono::milliseconds join_timeout{30'000};
};

/// Hosts one job from its coordinator to its summary: starts the local members, watches all, ends
/// them when one fails, and writes the bundle. Used once, by one thread; leaves no process behind.
class JobHost {
 public:
  /// Creates the bundle's directory and serves from here on. Throws `ConfigError`.
  JobHost(const RunSpec& spec, const JobOptions& options, HostPlan plan,
          const Environment& environment);
  ~JobHost();

  const std::string& target() const { return coordinator_->target(); }
  JobOutcome Run();

 private:
  using Clock = std::chrono::steady_clock;

  void PrepareBundle() const;
  void WarnOfLinks();
  void StartMembers();
  /// Until the job is complete or must be ended; decides the status.
  void Watch();
  void TakeSignals();
  void TakeEnds();
  void WatchStarter();
  void TakeLost();
  void TakeMissing();
  void TakeRows();
  /// A full disk ends the run, which is then unfinished.
  void KeepRows(int rank, const Beat& rows);
  bool FailureDecided();
  void Decide(JobStatus status, const std::string& error, std::optional<FailureKind> kind = {});
  void DecideFailed(const Failure& culprit);
  void DecideComplete();
  /// Tells agents how it ended, ends what is left, waits for agents to go.
  void EndAll();
  void WaitForAgents();
  void ShowProgress();
  JobOutcome Finish();
  /// Members are not to blame for beats that nobody took while this process was stopped (Ctrl-Z).
  void ForgiveOwnPause();
  RunRecord MakeRecord() const;

  const RunSpec spec_;
  const JobOptions options_;
  const Environment environment_;
  HostPlan plan_;
  const Clock::time_point begin_;
  Clock::time_point members_begin_;  // when the first was started: a network is built before
  std::string started_;
  JobBoard board_;
  std::unique_ptr<Coordinator> coordinator_;
  Console own_console_;
  Console& console_;
  MetricsLog metrics_;
  Progress progress_;
  ChildGroup children_;
  std::unique_ptr<RankStarter> starter_;  // null unless mpirun starts the ranks

  std::vector<WorkerRecord> workers_;
  std::optional<HashedEvaluation> evaluation_;
  std::optional<double> startup_seconds_;
  bool drain_ = false;
  Clock::time_point drain_end_;
  std::vector<Member> reported_lost_;
  std::optional<Clock::time_point> decide_at_;
  Clock::time_point last_round_ = Clock::now();
  std::optional<JobStatus> status_;
  std::string error_;
  std::string storage_error_;  // why the bundle lacks what it must hold
  std::optional<FailureKind> failure_;
};

/// Where the host tells agents how the job ended, as {"status", "error", "failure"}; the
/// last is null unless somebody made the job fail.
constexpr const char* kOutcomeKey = "job/outcome";

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_JOB_HOST_H_
