#ifndef RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_MEMBER_H_
#define RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_MEMBER_H_

#include <compare>
#include <cstdint>
#include <span>
#include <string>

namespace ringside {

/// An agent starts and watches the worker of its rank in a joined job, or the server of its index.
enum class Role { kWorker, kServer, kAgent, kServerAgent };

/// Identifies a process of a job to the coordinator.
struct Member {
  Role role = Role::kWorker;
  int index = 0;
  auto operator<=>(const Member&) const = default;
};

inline bool IsAgent(Role role) { return role == Role::kAgent || role == Role::kServerAgent; }
/// The agent of a worker or server in a joined job, and the worker or server of an agent.
Member AgentOf(const Member& child);
Member ChildOf(const Member& agent);

/// "worker 2"
std::string MemberName(const Member& member);

/// Why a run ended. The kind that explains most comes first: a failure of a later kind may be the
/// consequence of one of an earlier kind. The first four say what became of the process itself.
enum class FailureKind {
  kOutOfMemory,  ///< Killed by the kernel for lack of memory.
  kSignal,
  kEarlyExit,  ///< Ended without a result and without saying why.
  kLost,       ///< No heartbeat within the lease.
  kDiverged,
  kReplicasDiffer,  ///< Workers that must agree have different parameters.
  kProgram,         ///< The user's program that is the model.
  kData,
  kConfig,
  kMissingBackend,
  kResources,  ///< No descriptor, thread, process or memory for it.
  kInternal,
  kComm,
};
const char* FailureKindName(FailureKind kind);

/// Why a member failed, in its own words.
struct FailureReason {
  FailureKind kind = FailureKind::kInternal;
  std::string message{};
  /// Of kComm: the worker or server that did not do its part, as `MemberName` says it. Empty: the
  /// member knows none.
  std::string accused{};
};
/// The reason that is the current exception. Call inside a catch block.
FailureReason ReasonOfCurrentException();

/// How a process ended that an agent had started.
struct ChildExit {
  FailureKind kind = FailureKind::kEarlyExit;
  int code = 0;
  std::string message{};    ///< "(pid 4711) exited with code 3"
  std::string last_line{};  ///< What it wrote last, if that may say why it ended.
};

/// "; it wrote last: no such file"; empty without a line.
std::string QuoteLastLine(const std::string& line);

struct Failure {
  Member who;
  FailureKind kind = FailureKind::kInternal;
  std::string message;    ///< What happened, without the member's name.
  std::string accused{};  ///< As in `FailureReason`.

  /// The name of the member to blame: the accused one, or the one that failed.
  std::string Blamed() const;

  /// "worker 1 (pid 4711) was killed by signal 9", "worker 2: diverged: ..."
  std::string Text() const;
};

/// The failure that explains the others: the earliest one of the first kind in `FailureKind`. Of
/// kComm it is the earliest one that accuses whom most members accuse. `failures` is in order of
/// arrival and not empty.
const Failure& RootCause(std::span<const Failure> failures);

/// Whom to blame for `cause`, one of `failures`. A worker that misses a server which no other
/// worker misses is cut off itself, if there are at least two others. Pure.
std::string MemberToBlame(const Failure& cause, std::span<const Failure> failures, int workers);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_MEMBER_H_
