#ifndef RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_COORDINATOR_CLIENT_H_
#define RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_COORDINATOR_CLIENT_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ringside/common/base/deadline.h"
#include "ringside/common/core/store.h"
#include "ringside/experiments/job/coordinator/job_state.h"

namespace ringside {

/// A member's connection to the coordinator, and the `Store` of its job. Thread-safe after `Join`.
/// Throws `ConfigError` when the coordinator refuses a join or the token, otherwise `CommError`
/// naming the coordinator. With certificates, `Join` throws `CertificateError` naming it when one
/// side refuses the other's. Every call ends by its deadline.
class CoordinatorClient : public Store {
 public:
  struct Options {
    std::string target;  ///< `Coordinator::target()`.
    std::string token;
    std::string tls{};                          ///< As in `Coordinator::Options`.
    std::chrono::milliseconds timeout{10'000};  ///< For calls that do not wait for other members.
    /// How long the report of a failure, or the end of a member that has finished, waits for
    /// another connection. A broken one is made again in half a second at most, if the coordinator
    /// still lives.
    std::chrono::milliseconds reconnect_time{2'000};
  };

  /// Throws `ConfigError` when the certificates cannot be used.
  explicit CoordinatorClient(const Options& options);
  ~CoordinatorClient() override;

  /// The secret of connections between members, after `Join`. Each coordinator has another one,
  /// even if the generations of a run have one token.
  const std::string& members_token() const { return members_token_; }

  /// The value of a key, for a process that has not joined. Waits until the deadline for the
  /// coordinator to appear and for the key to be set.
  std::string AskFor(std::string_view key, const Deadline& deadline);
  /// Joins the job. Waits until the deadline for the coordinator to appear.
  Member Join(const JobState::JoinRequest& request, const Deadline& deadline);

  void Set(std::string_view key, std::string_view value) override;
  std::string Get(std::string_view key, const Deadline& deadline) override;
  void Forget(std::string_view key) override;

  /// Absent: the coordinator is connected but did not answer until the deadline.
  std::optional<HeartbeatCommand> SendHeartbeat(const Beat& beat, const Deadline& deadline);
  /// `report` is a JSON object of at most 4 MiB. Waits for another connection (`reconnect_time`) if
  /// this one breaks.
  void SubmitReport(const std::string& report);
  /// `piece.spans` has at most 1 MiB.
  void SubmitTrace(const TracePiece& piece, const Deadline& deadline);
  /// Asks for the coordinator's time several times and returns the best reading.
  ClockReading ReadClock();
  /// Waits for a connection (`reconnect_time`), because the one that failed may be its own.
  void Fail(const FailureReason& reason);
  /// Calls `JobState::ReportChildExit`.
  void ReportChildExit(const ChildExit& exit, const Deadline& deadline);
  /// Waits for another connection (`reconnect_time`) if this one breaks.
  void Leave();

  /// Whether nothing listens at the coordinator's address any more. Takes a tenth of a second at
  /// most. False where that cannot be told: over a Unix domain socket, for a host's name, or in
  /// time.
  bool HasEnded() const;

 private:
  struct Impl;

  bool UsesTls() const;
  void CheckPeer(const Deadline& deadline) const;
  std::string Read(std::string_view key, const Deadline& deadline, bool wait_for_ready);
  Deadline CallDeadline() const { return Deadline::After(options_.timeout); }

  const Options options_;
  std::string members_token_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_COORDINATOR_CLIENT_H_
