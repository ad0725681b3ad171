#ifndef RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_COORDINATOR_MESSAGES_H_
#define RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_COORDINATOR_MESSAGES_H_

// Private to the .cc files of this folder.

#include "ringside/experiments/job/coordinator/coordinator.pb.h"
#include "ringside/experiments/job/coordinator/job_state.h"

namespace ringside {

/// Converts between the messages of coordinator.proto and our own types. Private to this folder.
/// Functions that read a message throw `CommError` on an unknown enumerator, a negative step, and a
/// time that is no number.

constexpr const char* kTokenMetadata = "ringside-token";

job::Role ToMessage(Role role);
job::FailureKind ToMessage(FailureKind kind);
void ToMessage(const JobState::MemberHandle& ticket, job::Member* message);
void ToMessage(const Beat& beat, job::BeatRequest* message);
void ToMessage(const HeartbeatCommand& order, job::BeatReply* message);

Role FromMessage(job::Role role);
FailureKind FromMessage(job::FailureKind kind);
JobState::MemberHandle FromMessage(const job::Member& message);
Beat FromMessage(const job::BeatRequest& message);
void ToMessage(const TracePiece& piece, job::TracePiece* message);
TracePiece FromMessage(const job::TracePiece& message);
HeartbeatCommand FromMessage(const job::BeatReply& message);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_COORDINATOR_MESSAGES_H_
