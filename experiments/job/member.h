#ifndef RINGSIDE_EXPERIMENTS_JOB_MEMBER_H_
#define RINGSIDE_EXPERIMENTS_JOB_MEMBER_H_

#include <compare>
#include <cstdint>
#include <span>
#include <string>

namespace ringside {

/// An agent starts and watches the worker of its rank in a joined job, or the server of its index.
enum class Role { kWorker, kServer, kAgent, kServerAgent };

/// A process of a job, as the coordinator knows it.
struct Member {
  Role role = Role::kWorker;
  int index = 0;
  auto operator<=>(const Member&) const = default;
};

inline bool IsAgent(Role role) { return role == Role::kAgent || role == Role::kServerAgent; }
/// Who looks after that worker or server in a joined job, and the reverse.
Member AgentOf(const Member& child);
Member ChildOf(const Member& agent);

/// "worker 2"
std::string MemberName(const Member& member);

/// Why a run ended, the most telling kind first: what comes later in this list may be the
/// consequence of what comes before it.
enum class FailureKind {
  kSignal,
  kEarlyExit,  ///< Ended without a result and without saying why.
  kLost,       ///< No heartbeat within the lease.
  kDiverged,
  kData,
  kConfig,
  kMissingBackend,
  kInternal,
  kComm,
};
const char* FailureKindName(FailureKind kind);

/// What the exception being handled is, and its message. Call inside a catch block.
FailureKind KindOfCurrentException(std::string& message);

struct Failure {
  Member who;
  FailureKind kind = FailureKind::kInternal;
  std::string message;  ///< What happened, without the name of who.

  /// "worker 1 (pid 4711) was killed by signal 9", "worker 2: diverged: ..."
  std::string Text() const;
};

/// The failure that explains the others: the most telling kind, the earliest of those. `failures`
/// in order of arrival, not empty.
const Failure& Culprit(std::span<const Failure> failures);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_MEMBER_H_
