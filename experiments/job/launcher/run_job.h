#ifndef RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_RUN_JOB_H_
#define RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_RUN_JOB_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ringside/experiments/job/coordinator/member.h"
#include "ringside/experiments/job/processes/launcher_program.h"
#include "ringside/experiments/spec/bench_plan.h"
#include "ringside/experiments/spec/run_spec.h"
#include "ringside/experiments/system/processes/process.h"

namespace ringside {

class Console;

struct JobOutcome;

/// What happens when a process of a run dies, freezes or loses its connections.
enum class OnFailure {
  kStop,     ///< The run fails.
  kRestart,  ///< All processes start again from the newest checkpoint.
  /// Servers that need no particular worker go on without a lost one. Everything else starts again
  /// with one worker less, or with all of them if a server was lost.
  kShrink,
};
/// "stop", "restart", "shrink". Throws `ConfigError` for another name.
OnFailure ParseOnFailure(const std::string& name);
const char* OnFailureName(OnFailure on_failure);

struct RecoveryOptions {
  OnFailure on_failure = OnFailure::kStop;
  int max_restarts = 3;
};

/// Where the processes of a run are started, and by what.
struct LauncherOptions {
  LauncherProgram program = LauncherProgram::kRingside;
  std::string hostfile{};  ///< Empty: the nodes of the Slurm allocation, or this machine.
  /// How long to wait until all processes have joined; absent: `JoinTimeout` chooses.
  std::optional<std::chrono::milliseconds> start_timeout{};
};

/// The steps that the workers of a generation had reported.
struct ReportedSteps {
  std::optional<std::int64_t> first{};  ///< The first one of worker 0; absent: it reported none.
  std::vector<std::int64_t> done{};     ///< By rank: the number of the last one, plus 1.
};

/// A generation of a run that failed: from one start of its processes to the next.
struct FailedGeneration {
  int workers = 1;
  ReportedSteps steps{};
  bool updates_alone = false;  ///< Each step of each worker was an update of its own, at servers.
  double seconds = 0;          ///< From its start until its last process had ended.
  std::string error;
  nlohmann::json failure{};     ///< `FailureRecord`, or null.
  nlohmann::json last_words{};  ///< As in the summary of a failed run.
};

/// Where a run comes from, for its summary.
struct RunOrigin {
  std::string rerun_of;              ///< Id of the run whose bundle gave the spec; empty: none did.
  std::vector<std::string> earlier;  ///< Why each earlier attempt at this run failed.
  std::vector<FailedGeneration> generations;
  /// The spec that was asked for, if this generation has another one. It names the run.
  std::optional<RunSpec> asked;

  /// `rerun_of`, `attempt`, `earlier_attempts`, `restarts`, `failed_generations`; with `asked` also
  /// `run_id`. `first_step`: the first one that the last generation reported.
  void AddTo(nlohmann::json& summary, std::optional<std::int64_t> first_step) const;
};

/// Options of one run. Only `bench` changes what the run computes.
struct JobOptions {
  std::string bundle_dir;  ///< Created; gets spec.json, summary.json, metrics, logs, trace.
  /// All processes of the job listen and connect here; of a run on several hosts the coordinator
  /// alone.
  std::string address = "127.0.0.1";
  bool address_given = false;     ///< The user gave the address.
  bool insecure_network = false;  ///< Allow an address that is not loopback, unencrypted.
  /// The directory of this host's certificates (`TlsFiles`), an absolute path. Empty: none.
  std::string tls{};
  bool show_progress = true;  ///< One progress line on stderr (plain lines off a terminal).
  bool echo_logs = true;    ///< Print children's stderr here, with role and rank before each line.
  double time_limit_s = 0;  ///< Limit of the whole run; 0: none.
  /// The program whose hidden verbs run workers, servers and agents: this one, except in tests.
  std::string program = ThisExecutable();
  Console* console = nullptr;  ///< For lines and progress; borrowed. Null: makes its own.
  RunOrigin origin{};
  /// Whether another attempt follows an outcome; null: none does. Such an outcome writes no
  /// summary. So the bundle stays unfinished, and a kill between the attempts loses nothing.
  std::function<bool(const JobOutcome&)> another_follows{};
  LauncherOptions launcher{};
  RecoveryOptions recovery{};
  /// Of a later generation: its number, and the folder of checkpoints that it resumes from (empty:
  /// it starts where the spec says).
  int generation = 0;
  std::string resume{};
  double time_used_s = 0;  ///< Of `time_limit_s`, by earlier generations.
  /// If set, the workers only time the spec's strategy; the spec's model is never made.
  std::optional<BenchPlan> bench{};
};

enum class JobStatus { kDone, kFailed, kDiverged, kInterrupted, kTimedOut };
const char* JobStatusName(JobStatus status);

struct JobOutcome {
  JobStatus status = JobStatus::kFailed;
  std::string error{};  ///< Names the member to blame; empty when done.
  /// The content of summary.json. docs/run-bundle.md lists the keys for a run. For a bench job it
  /// is that of `BenchSummary`.
  nlohmann::json summary{};
  std::optional<FailureKind> failure{};  ///< The kind of failure, if a member made the run fail.
  /// A signal asked the run to end, even if it came so late that the run is done. Then the caller
  /// must start no other run.
  bool stop_requested = false;
  ReportedSteps steps{};
};

/// The `failure` of summary.json: its kind, the member to blame (empty: none), and the seconds from
/// the start of the generation until that was decided.
nlohmann::json FailureRecord(FailureKind kind, const std::string& member, double seconds);

/// True when a process was killed, a connection was reset or a port was taken, and nobody asked the
/// run to end. Another attempt would run out of memory, too, so that is not retryable.
bool IsRetryable(const JobOutcome& outcome);

/// True when another generation may help: also after a frozen, lost or vanished process and where
/// memory was short, unless somebody asked the run to end.
bool IsRecoverable(const JobOutcome& outcome);

/// Runs one resolved spec: the coordinator in this process, the servers and workers as children, or
/// where `options.launcher` puts them. Returns when the last child has ended and leaves no process
/// behind, whatever happens; on other hosts they end when they miss the coordinator. SIGINT or
/// SIGTERM drains the job (kInterrupted, partial results are kept). A second signal kills it, and
/// so do 10 s, or the limit of one operation if that is shorter. While the network is being built,
/// one signal is enough to end it. Throws `ConfigError` or `MissingBackendError` before anything
/// starts, and `CommError` when a link of the network carries nothing. Failures of the run itself
/// are in the outcome. With `options.recovery` a failed run goes on as `RunWithRecovery`
/// (recovery.h) says.
JobOutcome RunJob(const RunSpec& spec, const JobOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_RUN_JOB_H_
