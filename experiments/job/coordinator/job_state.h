#ifndef RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_JOB_STATE_H_
#define RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_JOB_STATE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ringside/common/base/awake_clock.h"
#include "ringside/common/measure/activity.h"
#include "ringside/common/measure/recorder.h"
#include "ringside/experiments/job/coordinator/clock_offset.h"
#include "ringside/experiments/job/coordinator/drain_barrier.h"
#include "ringside/experiments/job/coordinator/member.h"

namespace ringside {

/// The version of the calls between the processes of a job.
constexpr std::uint32_t kJobProtocol = 8;

/// How long a member may be silent towards the coordinator, or the coordinator towards a member. A
/// loss is to be found within 5 s: the lease, and the time that looks at it take.
constexpr std::chrono::milliseconds kLease{4'750};

struct HashedEvaluation {
  EvaluationRecord record;
  std::string params_sha256;  ///< Of the settled parameters of rank 0.
};

/// The content of a heartbeat: the step of the training thread, and what was measured since the
/// last one.
struct Beat {
  std::int64_t next_step = 0;
  bool held = false;
  std::vector<StepRecord> steps{};
  std::vector<HashedEvaluation> evaluations{};
  /// Of the rows, from 1. A member sends the same rows again, with the same number, when an answer
  /// did not come.
  std::uint64_t rows_number = 1;
  Activity activity{};
  double activity_seconds = 0;  ///< How long it had lasted, in the run's time.
};

/// A piece of a member's timeline.
struct TracePiece {
  std::string spans{};        ///< `PackSpans`.
  std::uint64_t dropped = 0;  ///< Spans of the whole timeline, so far.
  std::vector<ClockReading> readings{};
  std::string chunks{};              ///< `PackChunks`.
  std::uint64_t dropped_chunks = 0;  ///< So far.
};

/// The answer to a heartbeat.
struct HeartbeatCommand {
  enum class Kind {
    kGoOn,
    kHold,
    kStopAt,
    kAbort,
    kSuspended,  ///< The coordinator will be silent until its user lets it go on.
  };
  Kind kind = Kind::kGoOn;
  std::int64_t stop_step = 0;
  std::string reason;
};

/// What the coordinator knows about one member.
struct MemberRecord {
  std::int64_t pid = 0;
  std::string host;
  std::uint64_t incarnation = 0;
  std::chrono::steady_clock::time_point last_beat;  ///< By `AwakeNow`.
  std::int64_t next_step = 0;
  Activity activity{};           ///< At the last beat.
  double activity_seconds = 0;   ///< As in `Beat`.
  std::uint64_t rows_taken = 0;  ///< The largest `Beat::rows_number`.
  bool left = false;
  bool fenced = false;   ///< `JobState::Fence`.
  bool dropped = false;  ///< `JobState::Drop`.
  bool ended = false;    ///< Its agent has said how its process ended.
  bool knows_suspension = false;
  std::string report;  ///< JSON; empty until handed in.
};

/// The state of one job: members, key-value store, failures, and the agreement on a last step. It
/// makes no RPC and never waits. The coordinator's handlers and the launcher call it. Thread-safe.
/// A refused join throws `ConfigError`, any other refused call `CommError`; neither changes the
/// state.
class JobState {
 public:
  struct Options {
    int workers = 1;
    int servers = 0;  ///< Dedicated servers, which are processes.
    std::string spec_hash{};
    std::chrono::milliseconds lease = kLease;
    std::function<std::chrono::steady_clock::time_point()> clock = AwakeNow;
  };
  struct JoinRequest {
    std::uint32_t protocol = kJobProtocol;
    Member who;  ///< Index -1: any free index.
    std::int64_t pid = 0;
    std::string host{};
    std::string spec_hash{};
  };
  using Done = std::function<void(const std::string& value)>;
  struct MemberHandle {
    Member who;
    std::uint64_t incarnation = 0;
  };

  static constexpr std::size_t kMaxKeyBytes = 256;
  static constexpr std::size_t kMaxValueBytes = std::size_t{2} << 20;
  static constexpr std::size_t kMaxStoreBytes = std::size_t{512} << 20;
  static constexpr std::size_t kMaxTraceBytes = std::size_t{256} << 20;
  static constexpr std::size_t kMaxClockReadings = 64;

  explicit JobState(Options options) : options_(std::move(options)), agreement_(options_.workers) {}
  /// The coordinator must have ended. gRPC has waited for its calls then; the mutex, which each of
  /// them held last, says so where gRPC cannot be seen (ThreadSanitizer).
  ~JobState() { const std::lock_guard lock(mutex_); }
  JobState(const JobState&) = delete;
  JobState& operator=(const JobState&) = delete;

  int members() const { return options_.workers + options_.servers; }

  // Calls of members.
  /// A refused worker or server that has not joined makes the job fail, because the job cannot
  /// become complete without it.
  MemberHandle Join(const JoinRequest& request);
  void Set(const std::string& key, const std::string& value);
  /// Makes room. Nobody may ask for this key any more.
  void Forget(const std::string& key);
  /// Calls `done` with the value: immediately if the key is set, otherwise later on the thread that
  /// sets it. Returns an id for `CancelWait`; 0 when `done` was already called.
  std::uint64_t WhenSet(const std::string& key, Done done);
  /// Cancels a wait. Returns false when the callback has run or is running.
  bool CancelWait(std::uint64_t id);
  HeartbeatCommand HandleHeartbeat(const MemberHandle& ticket, Beat beat);
  void SubmitReport(const MemberHandle& ticket, const std::string& report);
  void SubmitTrace(const MemberHandle& ticket, const TracePiece& piece);
  void Fail(const MemberHandle& ticket, const FailureReason& reason);
  /// An agent reports that the process of its worker or server has ended. This is no failure if the
  /// process has left with a report and its code is 0. It is no further failure if the process has
  /// already said why it ended.
  void ReportChildExit(const MemberHandle& agent, const ChildExit& exit);
  /// A member leaves the job. When no worker is left, it posts the notice `kFinishedNotice`. It may
  /// be called twice.
  void Leave(const MemberHandle& ticket);

  // Calls of the process that hosts the job.
  void AddFailure(const Failure& failure);
  /// Forgets the failures of a member without which the job goes on.
  void Forgive(const Member& who);
  /// The job will go on without this worker. Its later calls with a ticket are refused, and a
  /// notice with its rank is posted. Returns the number of the notice; absent if the worker has
  /// left or never joined, or is fenced already: then nothing changes.
  std::optional<int> Fence(int worker);
  /// All servers have dropped this worker, which is fenced. Nobody waits for it any more: what it
  /// has not contributed to exchanges becomes `kLostWorkerValue`, for all others alike.
  void Drop(int worker);
  void RequestDrain();
  /// Whether someone asked the job to end early.
  bool draining() const;
  /// Answers every further beat with kAbort and this reason.
  void Abort(const std::string& reason);
  /// Answers further beats with kSuspended until `Resume`, if there is nothing else to say.
  void Suspend();
  void Resume();
  /// Whether all members that have joined and not left know that the coordinator is suspended.
  bool AllKnowSuspension() const;
  std::vector<Failure> failures() const;
  /// Members that have joined and not left, but sent no beat within the lease.
  std::vector<Member> Lost() const;
  bool Joined(const Member& who) const;
  /// The workers that have joined.
  std::vector<Member> Workers() const;
  /// The agents that have joined.
  std::vector<Member> Agents() const;
  bool HasLeft(const Member& who) const;
  bool HasReport(const Member& who) const;
  /// Workers and servers that have not joined yet.
  std::vector<Member> Missing() const;
  /// Whether every worker and server has handed in its report and left, or was dropped.
  bool Complete() const;
  /// Workers and servers with agents that have not said yet how their processes ended; without
  /// those that were dropped.
  std::vector<Member> Unended() const;
  /// A copy of a member's record; absent when it never joined.
  std::optional<MemberRecord> Record(const Member& who) const;
  /// Takes the rows that came since the last call.
  Beat TakeRows(const Member& who);
  /// Takes the timeline that the member has handed in so far.
  TracePiece TakeTrace(const Member& who);
  std::optional<std::string> Value(const std::string& key) const;

  /// Servers wait for notices 0, 1, ... in the store, and obey each. A notice is the rank of a
  /// worker that they must drop, or `kFinishedNotice`: no worker is left.
  static std::string NoticeKey(int number) { return "job/notice/" + std::to_string(number); }
  static constexpr const char* kFinishedNotice = "finished";
  /// A server sets this key when it has dropped the worker of that notice.
  static std::string ObeyedKey(int number, int server) {
    return NoticeKey(number) + "/server " + std::to_string(server);
  }

 private:
  struct Waiter {
    std::string key;
    Done done;
  };

  struct Incoming {
    TracePiece trace;
    std::vector<StepRecord> steps;
    std::vector<HashedEvaluation> evaluations;
  };

  /// Whether the job still waits for this worker or server, or for the one of this agent.
  bool IsAwaited(const Member& who) const;
  int FreeIndex(Role role) const;
  /// The reason, without the name of `who`; absent if it may join.
  std::optional<std::string> WhyRefused(const JoinRequest& request, const Member& who) const;
  MemberRecord& Find(const MemberHandle& ticket, const char* operation);
  template <typename Condition>
  std::vector<Member> JoinedWhere(const Condition& condition) const;
  bool AllWorkersLeft() const;
  /// Takes the waiters for these keys off the list.
  std::vector<Done> TakeWaiters(const std::function<bool(const std::string& key)>& is_for);
  /// Whether this is the key of something that a dropped worker will never contribute.
  bool IsLost(const std::string& key) const;
  int Post(const std::string& notice);

  const Options options_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<Member, MemberRecord> members_;
  std::map<Member, Incoming> incoming_;
  std::uint64_t next_incarnation_ = 1;
  std::map<std::string, std::string> values_;
  std::size_t stored_bytes_ = 0;
  std::map<std::uint64_t, Waiter> waiters_;
  std::uint64_t next_waiter_ = 1;
  int next_notice_ = 0;
  std::vector<Failure> failures_;
  StopAgreement agreement_;
  bool draining_ = false;
  bool suspended_ = false;
  std::optional<std::string> abort_reason_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_JOB_STATE_H_
