#ifndef RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_MESSAGES_H_
#define RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_MESSAGES_H_

#include "experiments/job/coordinator.pb.h"
#include "experiments/job/job_board.h"

namespace ringside {

/// Between the messages of coordinator.proto and our own types. Private to this folder. Functions
/// that read a message throw `CommError` on an enumerator they do not know.

constexpr const char* kTokenMetadata = "ringside-token";

job::Role ToMessage(Role role);
job::FailureKind ToMessage(FailureKind kind);
void ToMessage(const JobBoard::Ticket& ticket, job::Member* message);
void ToMessage(const Beat& beat, job::BeatRequest* message);
void ToMessage(const BeatOrder& order, job::BeatReply* message);

Role FromMessage(job::Role role);
FailureKind FromMessage(job::FailureKind kind);
JobBoard::Ticket FromMessage(const job::Member& message);
Beat FromMessage(const job::BeatRequest& message);
void ToMessage(const TracePiece& piece, job::TracePiece* message);
TracePiece FromMessage(const job::TracePiece& message);
BeatOrder FromMessage(const job::BeatReply& message);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_MESSAGES_H_
