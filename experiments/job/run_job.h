#ifndef RINGSIDE_EXPERIMENTS_JOB_RUN_JOB_H_
#define RINGSIDE_EXPERIMENTS_JOB_RUN_JOB_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiments/bench_plan.h"
#include "experiments/job/member.h"
#include "experiments/run_spec.h"

namespace ringside {

class Console;

/// How a run came to be, for its summary.
struct RunOrigin {
  std::string rerun_of;              ///< Id of the run whose bundle gave the spec; empty: none did.
  std::vector<std::string> earlier;  ///< Why each earlier attempt at this run came to nothing.

  /// `rerun_of`, `attempt`, `earlier_attempts`.
  void AddTo(nlohmann::json& summary) const;
};

/// How one run is carried out; nothing here but `bench` changes what it computes.
struct JobOptions {
  std::string bundle_dir;  ///< Created; gets spec.json, summary.json, metrics, logs, trace.
  std::string address = "127.0.0.1";  ///< All processes of the job listen and connect here.
  bool address_given = false;         ///< The address was asked for, it is not the default.
  bool insecure_network = false;      ///< Allow an address that is not loopback, unencrypted.
  bool show_progress = true;          ///< One progress line on stderr (plain lines off a terminal).
  bool echo_logs = true;    ///< Children's stderr on ours, each line prefixed by its role and rank.
  double time_limit_s = 0;  ///< Of the whole run; 0: none.
  Console* console = nullptr;  ///< Borrowed: where lines and progress go; null: one of its own.
  RunOrigin origin{};
  /// Another attempt follows a failure that `IsWorthRetrying`: it leaves its bundle without a
  /// summary, hence unfinished, so that a kill in between loses no attempt.
  bool more_attempts = false;
  /// The workers time the spec's strategy alone, and the spec's model is never made.
  std::optional<BenchPlan> bench{};
};

enum class JobStatus { kDone, kFailed, kDiverged, kInterrupted, kTimedOut };
const char* JobStatusName(JobStatus status);

struct JobOutcome {
  JobStatus status = JobStatus::kFailed;
  std::string error{};  ///< Names the culprit; empty when done.
  /// What summary.json holds: of a run docs/run-bundle.md lists the keys, of a bench job it is
  /// `BenchSummary`.
  nlohmann::json summary{};
  std::optional<FailureKind> failure{};  ///< Of the culprit, where one made the run fail.
};

/// FAULTS, "Retry": somebody was killed, a connection was reset, a port was taken.
bool IsWorthRetrying(const JobOutcome& outcome);

/// Runs one resolved spec with all its processes on this machine: coordinator inside this process,
/// servers and workers as children. Returns when the last child is reaped; leaves no process
/// behind, whatever happens. SIGINT and SIGTERM drain the job (kInterrupted, partial results kept);
/// a second one kills it; while its network is still being built one is enough. Throws
/// `ConfigError` or `MissingBackendError` before anything starts, `CommError` where a link of its
/// network carries nothing; failures of the run itself are in the outcome.
JobOutcome RunJob(const RunSpec& spec, const JobOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_RUN_JOB_H_
