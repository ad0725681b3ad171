#ifndef RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_HEARTBEAT_H_
#define RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_HEARTBEAT_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "ringside/experiments/job/coordinator/coordinator_client.h"
#include "ringside/experiments/job/coordinator/drain_barrier.h"
#include "ringside/experiments/job/coordinator/job_state.h"

namespace ringside {

/// Rows that a member measured and its heartbeat has not yet sent. Thread-safe.
class HeartbeatBuffer {
 public:
  void Add(const StepRecord& step);
  void Add(const HashedEvaluation& evaluation);
  /// Takes at most `max_rows` of each kind, oldest first.
  Beat Take(std::size_t max_rows);
  bool empty() const;

 private:
  mutable std::mutex mutex_;
  Beat pending_;  // guarded by mutex_
};

/// At every interval, tells the coordinator that this process lives, what it measured and which
/// step is next. Follows the answers: holds and opens the barrier. Calls `on_end` once, on its own
/// thread, when the job has failed or the coordinator has gone. The coordinator counts as gone when
/// it cannot be reached for a whole lease, or when it is connected but silent for
/// `silence_timeout`. Owns its thread, borrows the rest.
class Heartbeat {
 public:
  struct Options {
    std::chrono::milliseconds interval{250};
    std::chrono::milliseconds lease{5'000};
    /// Long, because a launcher that was stopped (Ctrl-Z) keeps its connections and answers later.
    std::chrono::milliseconds silence_timeout{60'000};
    /// For an agent: true when its user has asked it to stop. The coordinator then drains the job.
    std::function<bool()> wants_drain{};
    /// Called on the heartbeat's thread before every beat, to send other data. Must not throw, and
    /// may take only a small part of a lease.
    std::function<void()> before_beat{};
  };

  Heartbeat(CoordinatorClient& client, DrainBarrier& drain_barrier, HeartbeatBuffer& buffer,
            Options options, std::function<void(const std::string& reason)> on_end);
  ~Heartbeat();

  /// Ends the thread and sends the rest of the buffer. Throws `CommError` when that fails.
  void Finish();

 private:
  void Run();
  /// Sends one beat and returns the time until the next.
  std::chrono::milliseconds BeatOnce();
  void StopThread();

  CoordinatorClient& client_;
  DrainBarrier& drain_barrier_;
  HeartbeatBuffer& buffer_;
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

#endif  // RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_HEARTBEAT_H_
