#ifndef RINGSIDE_COMMON_MEASURE_ACTIVITY_H_
#define RINGSIDE_COMMON_MEASURE_ACTIVITY_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "ringside/common/base/dilated_clock.h"

namespace ringside {

/// The process for which another one waits. A plain value.
struct AwaitedPeer {
  enum class Way : std::uint8_t {
    kNone,     ///< For nobody in particular.
    kReceive,  ///< For a worker that sends nothing.
    kSend,     ///< For a worker that takes nothing.
    kMeet,     ///< For a worker that has not come as far, over shared memory or MPI.
    kAnswer,   ///< For the answer of a server.
    kPush,     ///< A server, for the push of a worker.
  };
  Way way = Way::kNone;
  std::int32_t index = -1;  ///< Of the worker or the server.

  bool operator==(const AwaitedPeer&) const = default;
  /// "worker 2", "server 0". Empty for kNone.
  std::string Name() const;
  /// "worker 2 has sent nothing more". Empty for kNone.
  std::string Text() const;
};

/// What the training thread of a worker is doing, or what a server is doing. A plain value.
struct Activity {
  enum class Kind {
    kUnknown,  ///< It is no worker, or has not begun.
    kStart,    ///< Meets the others.
    kHeld,     ///< Waits until a step may start.
    kData,     ///< Waits for a batch.
    kCompute,  ///< Forward and backward pass.
    kAwait,    ///< Waits for a bucket's synchronisation.
    kSettle,   ///< Waits for all workers at a pause.
    kEvaluate,
    kCheckpoint,
    kStop,   ///< Takes leave of the others.
    kServe,  ///< A server: answers, or waits for the push of `peer`.
    kEnded,  ///< Its model does no further step. The others may do some.
  };
  Kind kind = Kind::kUnknown;
  /// The step of the training thread, or the steps done at a pause. Of kAwait the step that needs
  /// the bucket: the one after the step of its gradient.
  std::int64_t step = 0;
  int bucket = -1;  ///< Of kAwait, and of kServe with a peer.
  AwaitedPeer peer{};

  bool operator==(const Activity&) const = default;
  /// Whether it surely waits for other processes.
  bool waits_for_others() const;
  /// "waits for bucket 3 in step 17 (worker 2 has sent nothing more)", "computes step 17". Empty
  /// for kUnknown.
  std::string Text() const;
};

/// Where the training thread writes what it does, and the thread that communicates for which peer
/// it waits. Other threads read it. Thread-safe.
class ActivityBoard {
 public:
  using Clock = DilatedClock;
  struct Entry {
    Activity activity;
    Clock::time_point since;
  };

  /// `since`: when it began.
  void Set(const Activity& activity, Clock::time_point since = Clock::now());
  /// It shows the peer while the training thread waits for others.
  Entry Get() const;
  /// Cheap enough for every message.
  void SetPeer(const AwaitedPeer& peer);

 private:
  mutable std::mutex mutex_;
  Entry entry_;  // guarded by mutex_
  std::atomic<std::uint64_t> peer_{0};
};

/// Shows on a board for which peer this thread waits, while it lives.
class ScopedPeer {
 public:
  /// Borrows the board. Null: shows nothing.
  ScopedPeer(ActivityBoard* board, const AwaitedPeer& peer) : board_(board) {
    if (board_ != nullptr) board_->SetPeer(peer);
  }
  ~ScopedPeer() {
    if (board_ != nullptr) board_->SetPeer({});
  }
  ScopedPeer(const ScopedPeer&) = delete;
  ScopedPeer& operator=(const ScopedPeer&) = delete;

 private:
  ActivityBoard* const board_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_MEASURE_ACTIVITY_H_
