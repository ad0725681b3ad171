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
#include "ringside/paramserver/slicing/slice_plan.h"
#include "ringside/paramserver/slicing/slice_sizes.h"
#include "ringside/paramserver/transports/core/server_link.h"
#include "ringside/paramserver/wire/payload.h"
#include "ringside/paramserver/wire/wire.h"
#include "ringside/paramserver/worker/send_queue.h"
#include "ringside/paramserver/worker/send_windows.h"
#include "ringside/paramserver/worker/worker_codec.h"

namespace ringside {

/// One call for a slice: what is sent to its server and what comes back.
struct Transfer {
  FrameHeader header;  ///< `version` and `payload_bytes` are filled in.
  CallFloats floats;
  bool counted = false;  ///< Training traffic: goes into the recorder.

  /// Not empty: these floats are encoded before they leave, and `floats.out` is or becomes the
  /// slice's `WorkerCodec::Push`. They are the floats of the slice, or of the whole bucket if
  /// `WorkerCodec::encodes_buckets`.
  std::span<const float> encode_from{};
  /// Not empty: `floats.in` is the slice's `WorkerCodec::ReplyBuffer`, and what has come is decoded
  /// to here.
  std::span<float> decode_to{};
};

/// Sends the slices of buckets and receives replies on its own thread, the communication thread.
/// Each bucket has at most one open transfer of each of its slices.
///
/// With a codec, that thread encodes a slice right before it is sent, or a bucket before its first
/// slice is. So, as in a ring, codecs delay the backward pass only by the cores that they use. The
/// same thread decodes replies when there is nothing to send.
///
/// Slices are sent one after the other, in the order of one `SendQueue` per server. HTTP/2 would
/// interleave all open transfers, so that all finish at the end and nothing overlaps. So
/// `SendWindows` limits the bytes that wait for the kernel and the unanswered bytes.
///
/// Ownership: the spans of a transfer belong to it from `Begin` until `Await` returns normally, or
/// until destruction. Thread safety: one caller. `Begin` does not block.
class Transfers {
 public:
  /// A server names the workers that it misses at the timeout. This is how long that may take.
  static constexpr std::chrono::milliseconds kGrace{400};

  /// What it is made of. Everything is borrowed but the links.
  struct Parts {
    std::vector<std::unique_ptr<ServerLink>> links;  ///< By server.
    const SlicePlan& slices;
    const std::vector<SendLimits>& limits;  ///< By server.
    SendOrder order = SendOrder::kFifo;
    /// Of servers with equal progress this one, or the next after it, gets the next slice. Workers
    /// that begin with different servers do not meet at the same link.
    int first_server = 0;
    std::chrono::milliseconds timeout{};
    std::chrono::milliseconds grace = kGrace;  ///< For an answer, after the timeout.
    WorkerCodec* codec = nullptr;              ///< Null: fp32.
    bool check_pushes = false;                 ///< Every push carries a checksum.
    FailureLatch& failure;
    Recorder& recorder;
    Timeline& timeline;
  };

  explicit Transfers(Parts parts);
  /// Cancels all open transfers.
  ~Transfers();

  ServerLink& link(int server) { return *links_[static_cast<std::size_t>(server)]; }

  /// `transfers` are one for each slice of a bucket. Throws `InternalError` that names the bucket
  /// when it is under way already.
  void Begin(std::span<const Transfer> transfers);
  /// Waits for this bucket's transfers, if there are some. Throws the strategy's `CommError`. The
  /// caller keeps whatever else this throws, such as a codec's error: it ends all transfers.
  void Await(int bucket);

  /// Payload bytes that were copied here: only those that the receiver writes.
  CopyCount copies() const;

 private:
  class Slot;

  /// A bucket between `Begin` and `Await`.
  struct BucketState {
    int under_way = 0;         // slices without a reply
    int encoded = 0;           // slices with a reply that is not decoded yet
    bool must_encode = false;  // before its first slice leaves
    Timeline::Clock::time_point begun_at{}, called_at{};
  };

  void Run(const std::stop_token& stop);
  void CarryOut(const std::stop_token& stop);
  bool AnyQueued() const;
  /// Wakes the thread if there is something that it may be able to begin.
  void NotifyCapacityFreed();
  /// The slice that leaves next. If none may, the first slice of a bucket that must be encoded
  /// before it leaves; it stays in its queue. Null: there is nothing to do.
  Slot* NextToSend();
  /// Releases `lock` meanwhile.
  void EncodeBucket(const Slot& slot, std::unique_lock<std::mutex>& lock);
  void StartCall(Slot& slot);
  /// Tells when a bucket is no longer in the queue. Only the first call for a bucket counts.
  void NoteBegin(const Slot& slot);
  /// Decodes the slice's reply. Releases `lock` during the decoding.
  void Decode(Slot& slot, std::unique_lock<std::mutex>& lock);
  /// Records the result of a push.
  void Record(const FrameHeader& reply);
  /// Waits until the bucket is answered, or all have failed; false: neither in time. Shows which
  /// server has not answered.
  bool WaitForAnswers(int bucket, const Deadline& deadline, std::unique_lock<std::mutex>& lock);
  /// The first slice of the bucket that has no reply.
  const Slot& Unanswered(int bucket) const;

  Slot& SlotOf(const FrameHeader& header) { return *slots_[header.slice]; }
  BucketState& StateOf(const FrameHeader& header) { return buckets_[header.bucket]; }
  int PositionOf(const FrameHeader& header) const { return positions_[header.slice]; }

  const SlicePlan& slices_;
  const std::vector<int> positions_;  // by slice
  const std::size_t first_server_;
  std::vector<Slot*> by_position_;            // of slots_
  std::vector<std::unique_ptr<Slot>> slots_;  // by slice; the links call them, so they live longer
  const std::chrono::milliseconds patience_;
  WorkerCodec* const codec_;  // null: fp32
  const bool check_pushes_;
  FailureLatch& failure_;
  Recorder& recorder_;
  Timeline& timeline_;

  mutable std::mutex mutex_;          // guards what follows, and the state of the slots
  std::condition_variable_any send_;  // a slice was queued, or room was made
  std::condition_variable done_;      // a bucket has ended, or all have failed
  std::vector<BucketState> buckets_;
  std::vector<SendQueue> queues_;  // by server
  std::vector<Slot*> received_;    // replies that wait to be decoded, in order of arrival
  SendWindows windows_;
  CopyCount copies_;
  std::vector<std::unique_ptr<ServerLink>> links_;  // by server; never changes
  std::jthread thread_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_WORKER_TRANSFERS_H_
