#ifndef RINGSIDE_EXPERIMENTS_JOB_JOB_BOARD_H_
#define RINGSIDE_EXPERIMENTS_JOB_JOB_BOARD_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/measure/recorder.h"
#include "experiments/job/clock_offset.h"
#include "experiments/job/member.h"
#include "experiments/job/stop_gate.h"

namespace ringside {

/// Version of the calls between the processes of a job.
constexpr std::uint32_t kJobProtocol = 3;

struct HashedEvaluation {
  EvaluationRecord record;
  std::string params_sha256;  ///< Of the settled parameters of rank 0.
};

/// What a heartbeat carries: where the training thread is, and what was measured since the last.
struct Beat {
  std::int64_t next_step = 0;
  bool held = false;
  std::vector<StepRecord> steps{};
  std::vector<HashedEvaluation> evaluations{};
};

/// What a member hands in of its timeline.
struct TracePiece {
  std::string spans{};        ///< `PackSpans`.
  std::uint64_t dropped = 0;  ///< So far, of the whole timeline.
  std::vector<ClockReading> readings{};
};

/// What a heartbeat is answered with.
struct BeatOrder {
  enum class Kind { kGoOn, kHold, kStopAt, kAbort };
  Kind kind = Kind::kGoOn;
  std::int64_t stop_step = 0;
  std::string reason;
};

/// What the coordinator knows of one member.
struct MemberRecord {
  std::int64_t pid = 0;
  std::string host;
  std::uint64_t incarnation = 0;
  std::chrono::steady_clock::time_point last_beat;
  std::int64_t next_step = 0;
  bool left = false;
  std::string report;  ///< JSON; empty until handed in.
};

/// The state of one job: members, key-value store, failures, the agreement on a last step. No RPC
/// and no waiting inside; the coordinator's handlers and the launcher call it. Thread-safe.
/// Refusals are `ConfigError` (a join) and `CommError` (anything else); they leave the state
/// unchanged.
class JobBoard {
 public:
  struct Options {
    int workers = 1;
    int servers = 0;  ///< Dedicated ones, which are processes.
    std::string spec_hash{};
    std::chrono::milliseconds lease{5'000};
    std::function<std::chrono::steady_clock::time_point()> clock = std::chrono::steady_clock::now;
  };
  struct JoinRequest {
    std::uint32_t protocol = kJobProtocol;
    Member who;  ///< Index -1: any free one.
    std::int64_t pid = 0;
    std::string host{};
    std::string spec_hash{};
  };
  struct Ticket {
    Member who;
    std::uint64_t incarnation = 0;
  };

  static constexpr std::size_t kMaxKeyBytes = 256;
  static constexpr std::size_t kMaxValueBytes = std::size_t{2} << 20;
  static constexpr std::size_t kMaxStoreBytes = std::size_t{512} << 20;
  static constexpr std::size_t kMaxTraceBytes = std::size_t{256} << 20;
  static constexpr std::size_t kMaxClockReadings = 64;

  explicit JobBoard(Options options) : options_(std::move(options)), agreement_(options_.workers) {}

  // Calls of members.
  Ticket Join(const JoinRequest& request);
  void Set(const std::string& key, const std::string& value);
  /// Calls `done` with the value, at once or when it is set, on the setter's thread. Returns what
  /// `CancelWait` takes, 0 when already called.
  std::uint64_t WhenSet(const std::string& key, std::function<void(const std::string&)> done);
  /// False when the callback ran already or is running.
  bool CancelWait(std::uint64_t id);
  BeatOrder TakeBeat(const Ticket& ticket, Beat beat);
  void HandIn(const Ticket& ticket, const std::string& report);
  void HandInTrace(const Ticket& ticket, const TracePiece& piece);
  void Fail(const Ticket& ticket, FailureKind kind, const std::string& message);
  /// From an agent: the process of its worker or server has ended. No failure when that had left
  /// with a report and the code is 0, or had said itself why it ends.
  void EndOfChild(const Ticket& agent, FailureKind kind, int code, const std::string& message);
  /// When the last worker leaves, the key `kFinishedKey` is set: servers wait for it.
  void Leave(const Ticket& ticket);

  // Calls of the process that hosts the job.
  void AddFailure(const Failure& failure);
  void RequestDrain();
  /// Every further beat is answered with kAbort and this reason.
  void Abort(const std::string& reason);
  std::vector<Failure> failures() const;
  /// Members that have joined, not left, and not beaten within the lease.
  std::vector<Member> Lost() const;
  /// As if every member had beaten just now.
  void RenewLeases();
  bool Joined(const Member& who) const;
  /// Those that have joined.
  std::vector<Member> Agents() const;
  bool HasLeft(const Member& who) const;
  bool HandedIn(const Member& who) const;
  /// Workers and servers that have not joined yet.
  std::vector<Member> Missing() const;
  /// Every worker and server has handed in its report and left.
  bool Complete() const;
  /// A copy; null when it never joined.
  std::optional<MemberRecord> Record(const Member& who) const;
  /// Moves the rows that came since the last call out of the board.
  Beat TakeRows(const Member& who);
  /// Moves what the member has handed in of its timeline out of the board.
  TracePiece TakeTrace(const Member& who);
  std::optional<std::string> Value(const std::string& key) const;

  static constexpr const char* kFinishedKey = "job/finished";

 private:
  struct Waiter {
    std::string key;
    std::function<void(const std::string&)> done;
  };

  struct Incoming {
    TracePiece trace;
    std::vector<StepRecord> steps;
    std::vector<HashedEvaluation> evaluations;
  };

  int FreeIndex(Role role) const;
  void CheckJoin(const JoinRequest& request, const Member& who) const;
  MemberRecord& Find(const Ticket& ticket, const char* operation);
  bool AllWorkersLeft() const;

  const Options options_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<Member, MemberRecord> members_;
  std::map<Member, Incoming> incoming_;
  std::uint64_t next_incarnation_ = 1;
  std::map<std::string, std::string> values_;
  std::size_t stored_bytes_ = 0;
  std::map<std::uint64_t, Waiter> waiters_;
  std::uint64_t next_waiter_ = 1;
  std::vector<Failure> failures_;
  StopAgreement agreement_;
  bool draining_ = false;
  std::optional<std::string> abort_reason_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_JOB_BOARD_H_
