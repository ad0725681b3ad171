#ifndef RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_HEARTBEAT_H_
#define RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_HEARTBEAT_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
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

/// Why a heartbeat has ended the job of its process.
struct HeartbeatEnd {
  /// The coordinator has not answered for a whole lease, or has ended. Otherwise it said that the
  /// job has failed.
  bool silent = false;
  std::string reason;
};

/// At every interval, tells the coordinator that this process lives, what it measured and which
/// step is next. Follows the answers: holds and opens the barrier. Calls `on_end` once, on its own
/// thread, when the job has failed, or the coordinator has ended or not answered for a whole lease.
/// It has ended if it answers no more and its address refuses connections. A lease does not pass
/// while this process is stopped. After the coordinator said that it will be suspended, its silence
/// counts only from its next answer on; a broken connection still counts, and so does a host that
/// acknowledges nothing for ten seconds, and silence in other calls, at the start and the end of a
/// process. Rows whose answer did not come are sent
/// again. Owns its thread, borrows the rest.
class Heartbeat {
 public:
  struct Options {
    std::chrono::milliseconds interval{250};
    std::chrono::milliseconds lease = kLease;
    /// For an agent: true when its user has asked it to stop. The coordinator then drains the job.
    std::function<bool()> wants_drain{};
    /// Called on the heartbeat's thread before every beat, to send other data. Must not throw, and
    /// may take only a small part of a lease.
    std::function<void()> before_beat{};
    /// What the training thread is doing; absent: there is none.
    std::function<ActivityBoard::Entry()> activity{};
  };

  Heartbeat(CoordinatorClient& client, DrainBarrier& drain_barrier, HeartbeatBuffer& buffer,
            Options options, std::function<void(const HeartbeatEnd&)> on_end);
  ~Heartbeat();

  /// Ends the thread and sends the rest of the buffer, within a lease. Throws `CommError` when that
  /// fails.
  void Finish();

 private:
  void Run();
  /// Sends one beat. Returns the time until the next; absent if no answer came.
  std::optional<std::chrono::milliseconds> BeatOnce(const Deadline& deadline);
  /// Sends `unanswered_`, filled from the buffer if it is empty, with this state of the barrier.
  std::optional<HeartbeatCommand> Send(bool held, std::int64_t next_step, const Deadline& deadline);
  /// Does what the coordinator says and returns the time until the next beat.
  std::chrono::milliseconds Follow(const HeartbeatCommand& order);
  void End(const HeartbeatEnd& end);
  void StopThread();

  CoordinatorClient& client_;
  DrainBarrier& drain_barrier_;
  HeartbeatBuffer& buffer_;
  const Options options_;
  const std::function<void(const HeartbeatEnd&)> on_end_;
  std::optional<Beat> unanswered_;  // of the thread; after its end, of `Finish`
  std::uint64_t rows_number_ = 0;   // of the same
  bool suspended_ = false;          // of the thread: the coordinator announced its silence
  bool held_ = false;               // of the thread
  bool decided_ = false;            // of the thread
  bool ended_ = false;              // of the thread

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_HEARTBEAT_H_
