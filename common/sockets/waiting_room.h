#ifndef RINGSIDE_COMMON_SOCKETS_WAITING_ROOM_H_
#define RINGSIDE_COMMON_SOCKETS_WAITING_ROOM_H_

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <vector>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/file_descriptor.h"

namespace ringside {

/// The connections that a listener has accepted and nobody has admitted yet. Anybody can connect,
/// so they are limited in number and in time. A process that belongs here shows it at once. So
/// where there is no room for another visitor, the one that came first has to leave.
///
/// Owns the listener and the visitors. It never waits: the caller polls. Used by one thread.
class WaitingRoom {
 public:
  /// A connection whose other end has not yet shown that it may come in.
  struct Visitor {
    FileDescriptor socket;           ///< Does not block.
    std::vector<std::byte> heard{};  ///< What the judge has read so far.
  };
  enum class Verdict {
    kLater,   ///< Not enough has come yet.
    kAdmit,   ///< It may come in.
    kRefuse,  ///< It has left, or is somebody else.
  };
  /// Reads what has come, without waiting.
  using Judge = std::function<Verdict(Visitor&)>;
  struct Options {
    std::size_t most = 64;                      ///< Visitors at a time, at least 1.
    std::chrono::milliseconds patience{5'000};  ///< Of the run's clock.
  };
  /// While somebody waits, the caller calls `Take` at least this often, so that nobody outstays
  /// `patience`.
  static constexpr std::chrono::milliseconds kTick{100};

  WaitingRoom(FileDescriptor listener, Judge judge, const Options& options);

  /// Nobody waits here: nothing happens until the listener is ready, however long that takes.
  bool empty() const { return waiting_.empty() && !full_; }
  /// Adds what the caller polls for before the next `Take`.
  void AddTo(std::vector<pollfd>& entries) const;
  /// Accepts and judges. Returns the visitors that were admitted, whom the caller now owns.
  std::vector<Visitor> Take();
  /// For a judge: reads until the visitor has said `bytes` bytes, and then returns `kAdmit`.
  static Verdict Hear(Visitor& visitor, std::size_t bytes);

  int listener() const { return listener_.get(); }

 private:
  struct Waiting {
    Visitor visitor;
    Deadline leaves;
  };

  void Accept();
  void JudgeAll(std::vector<Visitor>& admitted);

  const FileDescriptor listener_;
  const Judge judge_;
  const Options options_;
  std::deque<Waiting> waiting_;  // the first one came first
  bool full_ = false;            // the process had no room for a connection
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_SOCKETS_WAITING_ROOM_H_
