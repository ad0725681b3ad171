#ifndef RINGSIDE_PARAMSERVER_WORKER_SEND_WINDOWS_H_
#define RINGSIDE_PARAMSERVER_WORKER_SEND_WINDOWS_H_

#include <cstddef>
#include <vector>

#include "ringside/paramserver/slicing/slice_sizes.h"

namespace ringside {

/// Decides which servers a worker may send to. The progress of a server is the number of bytes that
/// have begun in this step, divided by the server's share.
///
/// A server answers a slice when the last worker has pushed it. So the unanswered bytes show how
/// far this worker is ahead. If it is far ahead, it leaves the server's link to the others.
///
/// Only slices that come *earlier* in the order of sending count against the limit. So the earliest
/// unanswered slice never waits for later ones, and workers that push in different orders cannot
/// wait for each other for ever. Not thread-safe.
class SendWindows {
 public:
  /// `slices` is the most slices that a server can have unanswered.
  SendWindows(const std::vector<SendLimits>& limits, int slices);

  /// The four events of a slice: it waits, is given to the transport, is taken by the kernel, is
  /// answered. A step begins when a slice waits while no other slice waits or is unanswered.
  void Queue(int server);
  ///
  /// `bytes` are what is sent, `answer` what comes back; a window counts the larger of the two. A
  /// pull sends nothing, but its answer fills the links, too.
  void Begin(int server, int position, std::size_t bytes, std::size_t answer = 0);
  void Sent(int server, std::size_t bytes);
  void Answered(int server, int position);

  /// Whether the slice at this position of the order may begin.
  bool MayBegin(int server, int position, std::size_t bytes, std::size_t answer = 0) const;
  /// The progress of the server, in bytes of the plan. The server with the least progress is next.
  double Begun(int server) const;

 private:
  struct Unanswered {
    int position = 0;
    std::size_t bytes = 0;
  };
  struct State {
    SendLimits limits;
    int queued = 0;
    int open = 0;  // begun and not answered
    std::size_t unsent = 0;
    std::vector<Unanswered> unanswered;  // those that count against the limit, in no order
    double begun = 0;                    // bytes in this step
    bool active() const { return queued + open > 0; }
  };

  State& At(int server) { return servers_[static_cast<std::size_t>(server)]; }
  const State& At(int server) const { return servers_[static_cast<std::size_t>(server)]; }

  std::vector<State> servers_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_WORKER_SEND_WINDOWS_H_
