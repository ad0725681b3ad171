#ifndef RINGSIDE_EXPERIMENTS_JOB_CORE_JOB_VERDICT_H_
#define RINGSIDE_EXPERIMENTS_JOB_CORE_JOB_VERDICT_H_

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "ringside/experiments/job/coordinator/member.h"
#include "ringside/experiments/job/core/job_outcome.h"

namespace ringside {

/// How a job ends. The first decision counts. Used by one thread.
class JobVerdict {
 public:
  /// `begin`: when the job began.
  explicit JobVerdict(std::chrono::steady_clock::time_point begin) : begin_(begin) {}

  /// `kind` and the member to blame, where there are any. Does nothing when the job is decided.
  void Decide(JobStatus status, const std::string& error, std::optional<FailureKind> kind = {},
              const std::string& member = "");

  bool decided() const { return decided_; }
  JobStatus status() const { return status_; }
  const std::string& error() const { return error_; }
  const std::optional<FailureKind>& failure() const { return failure_; }
  /// `FailureRecord`; null without a failure.
  const nlohmann::json& failure_record() const { return failure_record_; }
  /// Without a summary.
  JobOutcome Outcome(bool stop_requested) const;

 private:
  const std::chrono::steady_clock::time_point begin_;
  bool decided_ = false;
  JobStatus status_ = JobStatus::kFailed;
  std::string error_;
  std::optional<FailureKind> failure_;
  nlohmann::json failure_record_;
};

/// The key under which the host of a job tells agents how it ended, as `OutcomeToText`.
inline constexpr const char* kOutcomeKey = "job/outcome";
/// An outcome without its summary, as {"status", "error", "failure", "stop_requested"}. "failure"
/// is null unless a member made the job fail.
std::string OutcomeToText(const JobOutcome& outcome);
JobOutcome OutcomeFromText(const std::string& text);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_CORE_JOB_VERDICT_H_
