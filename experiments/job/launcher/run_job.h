#ifndef RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_RUN_JOB_H_
#define RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_RUN_JOB_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ringside/experiments/job/coordinator/member.h"
#include "ringside/experiments/spec/bench_plan.h"
#include "ringside/experiments/spec/run_spec.h"
#include "ringside/experiments/system/process.h"

namespace ringside {

class Console;

/// Where a run comes from, for its summary.
struct RunOrigin {
  std::string rerun_of;              ///< Id of the run whose bundle gave the spec; empty: none did.
  std::vector<std::string> earlier;  ///< Why each earlier attempt at this run failed.

  /// `rerun_of`, `attempt`, `earlier_attempts`.
  void AddTo(nlohmann::json& summary) const;
};

/// Options of one run. Only `bench` changes what the run computes.
struct JobOptions {
  std::string bundle_dir;  ///< Created; gets spec.json, summary.json, metrics, logs, trace.
  std::string address = "127.0.0.1";  ///< All processes of the job listen and connect here.
  bool address_given = false;         ///< The user gave the address.
  bool insecure_network = false;      ///< Allow an address that is not loopback, unencrypted.
  bool show_progress = true;          ///< One progress line on stderr (plain lines off a terminal).
  bool echo_logs = true;    ///< Print children's stderr here, with role and rank before each line.
  double time_limit_s = 0;  ///< Limit of the whole run; 0: none.
  /// The program whose hidden verbs run workers, servers and agents: this one, except in tests.
  std::string program = ThisExecutable();
  Console* console = nullptr;  ///< For lines and progress; borrowed. Null: makes its own.
  RunOrigin origin{};
  /// Another attempt follows a failure that `IsRetryable`. Such a failure writes no summary. So the
  /// bundle stays unfinished, and a kill between the attempts loses nothing.
  bool more_attempts = false;
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
};

/// True when a process was killed, a connection was reset or a port was taken, and nobody asked the
/// run to end. Another attempt would run out of memory, too, so that is not retryable.
bool IsRetryable(const JobOutcome& outcome);

/// Runs one resolved spec with all processes on this machine: the coordinator in this process, the
/// servers and workers as children. Returns when the last child has ended and leaves no process
/// behind, whatever happens. SIGINT or SIGTERM drains the job (kInterrupted, partial results are
/// kept). A second signal kills it. While the network is being built, one signal is enough to end
/// it. Throws `ConfigError` or `MissingBackendError` before anything starts, and `CommError` when a
/// link of the network carries nothing. Failures of the run itself are in the outcome.
JobOutcome RunJob(const RunSpec& spec, const JobOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_RUN_JOB_H_
