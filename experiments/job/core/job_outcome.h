#ifndef RINGSIDE_EXPERIMENTS_JOB_CORE_JOB_OUTCOME_H_
#define RINGSIDE_EXPERIMENTS_JOB_CORE_JOB_OUTCOME_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ringside/experiments/job/coordinator/member.h"

namespace ringside {

/// The steps that the workers of a generation had reported.
struct ReportedSteps {
  std::optional<std::int64_t> first{};  ///< The first one of worker 0; absent: it reported none.
  std::vector<std::int64_t> done{};     ///< By rank: the number of the last one, plus 1.
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

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_CORE_JOB_OUTCOME_H_
