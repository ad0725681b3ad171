#ifndef RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_CLIENT_H_
#define RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_CLIENT_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "common/deadline.h"
#include "common/store.h"
#include "experiments/job/job_board.h"

namespace ringside {

/// A member's side of the coordinator, and the `Store` of its job. Thread-safe after `Join`. Throws
/// `ConfigError` where the coordinator refuses a join or the token, `CommError` naming the
/// coordinator otherwise; no call outlasts its deadline.
class CoordinatorClient : public Store {
 public:
  struct Options {
    std::string target;  ///< `Coordinator::target()`.
    std::string token;
    std::chrono::milliseconds timeout{10'000};  ///< Of calls that do not wait for other members.
  };

  explicit CoordinatorClient(const Options& options);
  ~CoordinatorClient() override;

  /// Waits for the coordinator to appear until the deadline.
  Member Join(const JobBoard::JoinRequest& request, const Deadline& deadline);

  void Set(std::string_view key, std::string_view value) override;
  std::string Get(std::string_view key, const Deadline& deadline) override;

  BeatOrder SendBeat(const Beat& beat, const Deadline& deadline);
  /// `report`: a JSON object, at most 4 MiB.
  void HandIn(const std::string& report);
  /// `piece.spans`: at most 1 MiB.
  void HandInTrace(const TracePiece& piece, const Deadline& deadline);
  /// Asks for the coordinator's time some times over.
  ClockReading ReadClock();
  void Fail(FailureKind kind, const std::string& message);
  /// `JobBoard::EndOfChild`.
  void EndOfChild(FailureKind kind, int code, const std::string& message);
  void Leave();

 private:
  struct Hidden;

  Deadline CallDeadline() const { return Deadline::After(options_.timeout); }

  const Options options_;
  std::unique_ptr<Hidden> hidden_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_CLIENT_H_
