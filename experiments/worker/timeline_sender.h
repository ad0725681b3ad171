#ifndef RINGSIDE_EXPERIMENTS_WORKER_TIMELINE_SENDER_H_
#define RINGSIDE_EXPERIMENTS_WORKER_TIMELINE_SENDER_H_

#include <memory>
#include <mutex>
#include <vector>

#include "common/deadline.h"
#include "common/measure/timeline.h"
#include "experiments/job/coordinator_client.h"
#include "experiments/run_spec.h"

namespace ringside {

/// A process's timeline, handed to the coordinator bit by bit while the run goes on: what came
/// there survives the process. Nothing happens without a timeline. Thread-safe; borrows the client.
class TimelineSender {
 public:
  TimelineSender(CoordinatorClient& client, const RunSpec& spec);

  Timeline& timeline() { return *timeline_; }
  /// Compares this process's clock with the coordinator's; goes out with the next piece. Where that
  /// fails the trace lacks the reading.
  void ReadClock() noexcept;
  /// Hands in what is new. Spans of a piece that did not arrive count as dropped.
  void Send() noexcept;

 private:
  void SendPiece(const std::vector<TimelineSpan>& spans);

  CoordinatorClient& client_;
  const std::unique_ptr<Timeline> timeline_;
  std::mutex mutex_;                    // guards what follows
  std::vector<ClockReading> readings_;  // not handed in yet
  std::size_t lost_ = 0;
  std::size_t told_dropped_ = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WORKER_TIMELINE_SENDER_H_
