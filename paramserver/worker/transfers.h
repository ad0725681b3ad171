#ifndef RINGSIDE_PARAMSERVER_WORKER_TRANSFERS_H_
#define RINGSIDE_PARAMSERVER_WORKER_TRANSFERS_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "ringside/common/core/failure_latch.h"
#include "ringside/common/measure/recorder.h"
#include "ringside/common/measure/timeline.h"
#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/paramserver/transports/send_windows.h"
#include "ringside/paramserver/transports/server_link.h"
#include "ringside/paramserver/wire/payload.h"
#include "ringside/paramserver/wire/wire.h"
#include "ringside/paramserver/wire/wire_codec.h"
#include "ringside/paramserver/worker/send_queue.h"

namespace ringside {

/// One call for a bucket: what goes to its server and what comes back.
struct Transfer {
  FrameHeader header;  ///< `version` and `payload_bytes` are filled in.
  int server = 0;
  CallFloats floats;
  bool counted = false;  ///< Training traffic: goes into the recorder.

  /// Not empty: `floats.out` is the bucket's `WireCodec::PushBuffer`, and these floats are encoded
  /// to it before they leave.
  std::span<const float> encode_from{};
  /// Not empty: `floats.in` is the bucket's `WireCodec::ReplyBuffer`, and what has come is decoded
  /// to here.
  std::span<float> decode_to{};
};

/// Sends buckets and receives replies on its own thread, the communication thread. At most one
/// transfer per bucket is under way.
///
/// With a codec that thread encodes a bucket right before it leaves. So, as in a ring, codecs cost
/// the backward pass only the cores they use. The same thread decodes replies when nothing is to be
/// sent; the caller of `Await` decodes others.
///
/// Buckets leave one after the other, in the order of one `SendQueue` per server. HTTP/2 would
/// interleave all that are under way and finish them together at the end, which leaves nothing to
/// overlap. So `SendWindows` limits the bytes that wait for the kernel and, for a while, those that
/// are unanswered.
///
/// Ownership: the spans of a transfer belong to it from `Begin` until `Await` returns normally, or
/// until destruction. Thread safety: one caller; `Begin` does not block.
class Transfers {
 public:
  /// Takes the links over; borrows the rest. `codec` is null for fp32.
  Transfers(std::vector<std::unique_ptr<ServerLink>> links, const SendWindows& windows, int buckets,
            SendOrder order, std::chrono::milliseconds timeout, WireCodec* codec,
            FailureLatch& failure, Recorder& recorder, Timeline& timeline);
  /// Cancels what is under way.
  ~Transfers();

  ServerLink& link(int server) { return *links_[static_cast<std::size_t>(server)]; }

  /// Throws `InternalError` that names the bucket when one of it is under way.
  void Begin(const Transfer& transfer);
  /// Waits for this bucket's transfer, if there is one. Throws the strategy's `CommError`. The
  /// caller keeps whatever else this throws, such as a codec's error: it ends all transfers.
  void Await(int bucket);

  /// Payload bytes that were moved here: only the receiver's own write.
  CopyCount copies() const;

 private:
  class Slot;

  void Run(const std::stop_token& stop);
  void CarryOut(const std::stop_token& stop);
  bool AnyQueued() const;
  /// Wakes the thread if there is anything for it to begin.
  void NotifyCapacityFreed();
  Slot* NextToSend();
  void StartCall(Slot& slot);
  /// Decodes its reply; `lock` is released meanwhile.
  void Decode(Slot& slot, std::unique_lock<std::mutex>& lock, int lane);
  /// Records what became of a push.
  void Record(const FrameHeader& reply);

  std::vector<std::unique_ptr<Slot>> slots_;  // by bucket; outlive the links, which call them
  const std::chrono::milliseconds timeout_;
  WireCodec* const codec_;  // null: fp32
  FailureLatch& failure_;
  Recorder& recorder_;
  Timeline& timeline_;

  mutable std::mutex mutex_;          // guards what follows, and the state of the slots
  std::condition_variable_any send_;  // a bucket was queued, or room was made
  std::condition_variable done_;      // a transfer has ended, or all have failed
  std::vector<SendQueue> queues_;     // by server
  std::vector<Slot*> received_;       // replies that wait to be decoded, in the order they came
  SendWindows windows_;
  CopyCount copies_;
  std::vector<std::unique_ptr<ServerLink>> links_;  // by server; never changes
  std::jthread thread_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_WORKER_TRANSFERS_H_
