#ifndef RINGSIDE_EXPERIMENTS_WORKER_TIMELINE_SENDER_H_
#define RINGSIDE_EXPERIMENTS_WORKER_TIMELINE_SENDER_H_

#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "ringside/common/base/deadline.h"
#include "ringside/common/measure/timeline.h"
#include "ringside/experiments/job/coordinator/coordinator_client.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// The most that a run records, all processes together. Its files then have less than 64 MB.
inline constexpr TimelineCapacity kRecordOfRun{.spans = 240'000, .chunks = 200'000};

/// Sends a process's timeline to the coordinator in pieces during the run. Pieces that arrived are
/// kept even if the process dies. Does nothing without a timeline. Thread-safe. Borrows the client.
class TimelineSender {
 public:
  TimelineSender(CoordinatorClient& client, const RunSpec& spec);

  Timeline& timeline() { return *timeline_; }
  /// Compares this process's clock with the coordinator's. The next piece carries the reading. If
  /// this fails, the trace lacks the reading.
  void ReadClock() noexcept;
  /// Sends new events and readings, for a second or two at most. Does nothing while another thread
  /// sends. Events of a piece that did not arrive count as dropped.
  void SendSome() noexcept;
  /// Sends all that is left, for some seconds at most. What is left then counts as dropped.
  void SendRest() noexcept;

 private:
  struct Dropped {
    std::size_t spans = 0;
    std::size_t chunks = 0;
    bool operator==(const Dropped&) const = default;
  };

  /// Sends the next piece; true: it was full, so there may be more.
  bool SendPiece();
  /// Sends pieces until there is no more, or begins none after the deadline.
  void SendUntil(const Deadline& deadline);

  CoordinatorClient& client_;
  const std::unique_ptr<Timeline> timeline_;
  std::mutex mutex_;                    // guards what follows
  std::vector<ClockReading> readings_;  // not sent yet
  Dropped lost_;
  Dropped told_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WORKER_TIMELINE_SENDER_H_
