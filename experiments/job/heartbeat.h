#ifndef RINGSIDE_EXPERIMENTS_JOB_HEARTBEAT_H_
#define RINGSIDE_EXPERIMENTS_JOB_HEARTBEAT_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "experiments/job/coordinator_client.h"
#include "experiments/job/job_board.h"
#include "experiments/job/stop_gate.h"

namespace ringside {

/// What a member measured and its heartbeat has not sent yet. Thread-safe.
class BeatBuffer {
 public:
  void Add(const StepRecord& step);
  void Add(const HashedEvaluation& evaluation);
  /// At most `max_rows` of each, oldest first.
  Beat Take(std::size_t max_rows);
  bool empty() const;

 private:
  mutable std::mutex mutex_;
  Beat pending_;  // guarded by mutex_
};

/// Tells the coordinator every interval that this process lives, what it measured and where it is,
/// and obeys the answers: holds and opens the gate, and calls `on_end` once, on its own thread,
/// when the job has failed or the coordinator is gone: unreachable for a whole lease, or connected
/// but silent for `patience`. Owns its thread, borrows the rest.
class Heartbeat {
 public:
  struct Options {
    std::chrono::milliseconds interval{250};
    std::chrono::milliseconds lease{5'000};
    /// A launcher that was stopped (Ctrl-Z) keeps its connections and will answer.
    std::chrono::milliseconds patience{60'000};
    /// Of an agent: true once its user asked it to stop; the coordinator then drains the job.
    std::function<bool()> wants_drain{};
    /// Called before every beat, on the heartbeat's thread: what else is to be sent. Does not throw
    /// and takes no longer than a small part of a lease.
    std::function<void()> before_beat{};
  };

  Heartbeat(CoordinatorClient& client, StopGate& gate, BeatBuffer& buffer, Options options,
            std::function<void(const std::string& reason)> on_end);
  ~Heartbeat();

  /// Ends the thread and sends what is left in the buffer. Throws `CommError` when that cannot be.
  void Finish();

 private:
  void Run();
  /// Returns the time until the next beat.
  std::chrono::milliseconds BeatOnce();
  void StopThread();

  CoordinatorClient& client_;
  StopGate& gate_;
  BeatBuffer& buffer_;
  const Options options_;
  const std::function<void(const std::string&)> on_end_;
  bool held_ = false;     // of the thread
  bool decided_ = false;  // of the thread
  bool ended_ = false;    // of the thread

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_HEARTBEAT_H_
