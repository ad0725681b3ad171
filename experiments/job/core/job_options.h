#ifndef RINGSIDE_EXPERIMENTS_JOB_CORE_JOB_OPTIONS_H_
#define RINGSIDE_EXPERIMENTS_JOB_CORE_JOB_OPTIONS_H_

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "ringside/experiments/job/core/job_outcome.h"
#include "ringside/experiments/job/core/run_origin.h"
#include "ringside/experiments/job/processes/launcher_program.h"
#include "ringside/experiments/spec/bench_plan.h"
#include "ringside/experiments/system/processes/process.h"

namespace ringside {

class Console;

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

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_CORE_JOB_OPTIONS_H_
