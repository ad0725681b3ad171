#include "ringside/experiments/job/core/job_outcome.h"

namespace ringside {

const char* JobStatusName(JobStatus status) {
  switch (status) {
    case JobStatus::kDone:
      return "done";
    case JobStatus::kFailed:
      return "failed";
    case JobStatus::kDiverged:
      return "diverged";
    case JobStatus::kInterrupted:
      return "interrupted";
    case JobStatus::kTimedOut:
      return "timed out";
  }
  return "unknown";
}

nlohmann::json FailureRecord(FailureKind kind, const std::string& member, double seconds) {
  return {{"kind", FailureKindName(kind)},
          {"member", member.empty() ? nlohmann::json() : nlohmann::json(member)},
          {"seconds", seconds}};
}

bool IsRetryable(const JobOutcome& outcome) {
  return !outcome.stop_requested && outcome.status == JobStatus::kFailed &&
         (outcome.failure == FailureKind::kSignal || outcome.failure == FailureKind::kComm);
}

bool IsRecoverable(const JobOutcome& outcome) {
  if (outcome.stop_requested || outcome.status != JobStatus::kFailed || !outcome.failure) {
    return false;
  }
  switch (*outcome.failure) {
    case FailureKind::kOutOfMemory:
    case FailureKind::kSignal:
    case FailureKind::kEarlyExit:
    case FailureKind::kLost:
    case FailureKind::kReplicasDiffer:  // no checkpoint has parameters that differ
    case FailureKind::kResources:
    case FailureKind::kComm:
      return true;
    case FailureKind::kDiverged:
    case FailureKind::kProgram:
    case FailureKind::kData:
    case FailureKind::kConfig:
    case FailureKind::kMissingBackend:
    case FailureKind::kInternal:
      return false;
  }
  return false;
}

}  // namespace ringside
