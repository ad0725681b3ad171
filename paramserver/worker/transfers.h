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
#include "ringside/paramserver/transports/core/send_windows.h"
#include "ringside/paramserver/transports/core/server_link.h"
#include "ringside/paramserver/wire/payload.h"
#include "ringside/paramserver/wire/wire.h"
#include "ringside/paramserver/wire/wire_codec.h"
#include "ringside/paramserver/worker/send_queue.h"

namespace ringside {

/// One call for a bucket: what is sent to its server and what comes back.
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

/// Sends buckets and receives replies on its own thread, the communication thread. Each bucket has
/// at most one open transfer.
///
/// With a codec, that thread encodes a bucket right before it is sent. So, as in a ring, codecs
/// delay the backward pass only by the cores that they use. The same thread decodes replies when
/// there is nothing to send. The caller of `Await` decodes the other replies.
///
/// Buckets are sent one after the other, in the order of one `SendQueue` per server. HTTP/2 would
/// interleave all open transfers, so that all finish at the end and nothing overlaps. So
/// `SendWindows` limits the bytes that wait for the kernel and, for some time, the unanswered
/// bytes.
///
/// Ownership: the spans of a transfer belong to it from `Begin` until `Await` returns normally, or
/// until destruction. Thread safety: one caller. `Begin` does not block.
class Transfers {
 public:
  /// Takes ownership of the links. Borrows the rest. `codec` is null for fp32.
  Transfers(std::vector<std::unique_ptr<ServerLink>> links, const SendWindows& windows, int buckets,
            SendOrder order, std::chrono::milliseconds timeout, WireCodec* codec,
            FailureLatch& failure, Recorder& recorder, Timeline& timeline);
  /// Cancels all open transfers.
  ~Transfers();

  ServerLink& link(int server) { return *links_[static_cast<std::size_t>(server)]; }

  /// Throws `InternalError` that names the bucket when one of it is under way.
  void Begin(const Transfer& transfer);
  /// Waits for this bucket's transfer, if there is one. Throws the strategy's `CommError`. The
  /// caller keeps whatever else this throws, such as a codec's error: it ends all transfers.
  void Await(int bucket);

  /// Payload bytes that were copied here: only those that the receiver writes.
  CopyCount copies() const;

 private:
  class Slot;

  void Run(const std::stop_token& stop);
  void CarryOut(const std::stop_token& stop);
  bool AnyQueued() const;
  /// Wakes the thread if there is something that it can begin.
  void NotifyCapacityFreed();
  Slot* NextToSend();
  void StartCall(Slot& slot);
  /// Decodes the bucket's reply. Releases `lock` during the decoding.
  void Decode(Slot& slot, std::unique_lock<std::mutex>& lock, int lane);
  /// Records the result of a push.
  void Record(const FrameHeader& reply);

  std::vector<std::unique_ptr<Slot>> slots_;  // by bucket; the links call them, so they live longer
  const std::chrono::milliseconds timeout_;
  WireCodec* const codec_;  // null: fp32
  FailureLatch& failure_;
  Recorder& recorder_;
  Timeline& timeline_;

  mutable std::mutex mutex_;          // guards what follows, and the state of the slots
  std::condition_variable_any send_;  // a bucket was queued, or room was made
  std::condition_variable done_;      // a transfer has ended, or all have failed
  std::vector<SendQueue> queues_;     // by server
  std::vector<Slot*> received_;       // replies that wait to be decoded, in order of arrival
  SendWindows windows_;
  CopyCount copies_;
  std::vector<std::unique_ptr<ServerLink>> links_;  // by server; never changes
  std::jthread thread_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_WORKER_TRANSFERS_H_
