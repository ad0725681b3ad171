#ifndef RINGSIDE_PARAMSERVER_TRANSFERS_H_
#define RINGSIDE_PARAMSERVER_TRANSFERS_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "common/measure/recorder.h"
#include "common/measure/timeline.h"
#include "common/strategy_entry.h"
#include "paramserver/failure_latch.h"
#include "paramserver/payload.h"
#include "paramserver/send_queue.h"
#include "paramserver/send_windows.h"
#include "paramserver/server_link.h"
#include "paramserver/wire.h"

namespace ringside {

/// One bucket's way to its server and back.
struct Transfer {
  FrameHeader header;  ///< `version` and `payload_bytes` are filled in.
  int server = 0;
  std::span<const float> out{};
  std::span<float> in;   ///< Gets the payload of the reply, exactly as long.
  bool counted = false;  ///< Training traffic: goes into the recorder.
};

/// Carries buckets out on one thread of its own. At most one transfer per bucket is under way.
///
/// Buckets leave one after the other, in the order of a `SendQueue` a server: HTTP/2 would
/// interleave all that are under way and finish them together at the end, which leaves nothing to
/// overlap. So `SendWindows` limits how much waits to be taken by the kernel, and for a while how
/// much has no answer.
///
/// Ownership: the spans of a transfer belong to it from `Begin` until `Await` returns normally, or
/// until destruction. Thread safety: one caller; `Begin` does not block.
class Transfers {
 public:
  /// Takes the links over; borrows the rest.
  Transfers(std::vector<std::unique_ptr<ServerLink>> links, const SendWindows& windows, int buckets,
            SendOrder order, std::chrono::milliseconds timeout, FailureLatch& failure,
            Recorder& recorder, Timeline& timeline);
  /// Cancels what is under way.
  ~Transfers();

  ServerLink& link(int server) { return *links_[static_cast<std::size_t>(server)]; }

  void Begin(const Transfer& transfer);
  /// Waits for this bucket's transfer, if there is one. Throws the strategy's `CommError`.
  void Await(int bucket);

  /// Payload bytes that were moved here: the receiver's own write, nothing else.
  CopyCount copies() const;

 private:
  class Slot;

  void Run(const std::stop_token& stop);
  bool AnyQueued() const;
  /// Wakes the thread if there is anything for it to begin.
  void RoomWasMade();
  Slot* NextToSend();
  void StartCall(Slot& slot);
  /// What became of a push.
  void Record(const FrameHeader& reply);

  std::vector<std::unique_ptr<Slot>> slots_;  // by bucket; outlive the links, which call them
  const std::chrono::milliseconds timeout_;
  FailureLatch& failure_;
  Recorder& recorder_;
  Timeline& timeline_;

  mutable std::mutex mutex_;          // guards what follows, and the state of the slots
  std::condition_variable_any send_;  // a bucket was queued, or room was made
  std::condition_variable done_;      // a transfer has ended, or all have failed
  std::vector<SendQueue> queues_;     // by server
  SendWindows windows_;
  CopyCount copies_;
  std::vector<std::unique_ptr<ServerLink>> links_;  // by server; never changes
  std::jthread thread_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSFERS_H_
