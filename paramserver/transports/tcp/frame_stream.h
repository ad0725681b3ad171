#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_TCP_FRAME_STREAM_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_TCP_FRAME_STREAM_H_

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/paramserver/wire/wire.h"

namespace ringside {

/// A frame from `FrameStream::Send` until the stream no longer needs it. The sender owns it.
class OutgoingFrame {
 public:
  virtual ~OutgoingFrame() = default;
  /// The stream no longer uses this object or its payload: all is sent, or the stream has ended.
  /// Called exactly once for each `Send`, by `Send`, by `End` or on the stream's thread, without a
  /// lock of the stream. It must not block. It may end the life of this object.
  virtual void Released() = 0;

 private:
  friend class FrameStream;

  std::array<std::byte, FrameHeader::kBytes> header_{};
  std::span<const std::byte> payload_;
  std::size_t sent_ = 0;  // bytes of header and payload
  std::uint32_t urgency_ = 0;
  std::uint64_t age_ = 0;  // a smaller number is older
};

/// Frames in both directions over one connection. Owns the connection and a thread that sends.
///
/// Any thread may call `Send`, `Drain`, `FinishSending` and `End`. One thread receives. A `Send`
/// may still be under way in another thread when the stream is destroyed; a receive must not.
class FrameStream {
 public:
  /// What became of the header of the next frame.
  enum class Header {
    kDone,
    kDamaged,  ///< It is no frame, so the next one cannot be found.
    kClosed,   ///< The connection has ended.
  };

  /// `socket` is connected and blocking. Throws `std::system_error` if there can be no thread.
  explicit FrameStream(FileDescriptor socket);
  /// Ends the connection and releases all frames.
  ~FrameStream();
  FrameStream(const FrameStream&) = delete;
  FrameStream& operator=(const FrameStream&) = delete;

  int file() const { return socket_.get(); }

  /// Sends as much as the kernel takes now. The stream's thread sends the rest. Of the frames that
  /// wait, the most urgent one leaves first, and of these the oldest. The header's `payload_bytes`
  /// must be the length of `payload`. `frame` and the memory of `payload` must stay valid until
  /// `Released`.
  void Send(OutgoingFrame& frame, const FrameHeader& header, std::span<const std::byte> payload,
            std::uint32_t urgency);

  /// These three wait until everything has come.
  Header ReceiveHeader(FrameHeader& header);
  /// False: the connection has ended.
  bool Receive(std::span<std::byte> bytes);
  /// Receives bytes that nobody wants.
  bool Skip(std::uint64_t bytes);

  /// Waits until the kernel has all frames, or the stream has ended.
  void Drain(const Deadline& deadline);
  /// Nothing is sent any more: later frames are released at once. The other side reads what has
  /// been sent, and then the end. Frames still come in.
  void FinishSending();
  /// Ends the connection in both directions, with all waits, and releases all frames. Idempotent.
  void End();

 private:
  enum class Pumped { kDone, kLater, kFailed };

  Pumped Pump(OutgoingFrame& frame, int flags) const;
  /// The connection cannot send. Ends it, unless that is what `FinishSending` wants.
  void OnSendFailed();
  void Write();
  /// Waits for work and returns the next frame, which is then being sent. Null: the end.
  OutgoingFrame* Next();
  static bool LeavesLater(const OutgoingFrame* frame, const OutgoingFrame* other);

  const FileDescriptor socket_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<OutgoingFrame*> waiting_;   // a heap: the next one is at the front
  OutgoingFrame* handed_over_ = nullptr;  // begun by `Send`, for the thread to finish
  bool sending_ = false;                  // a thread sends a frame, without the mutex
  bool finished_ = false;                 // nothing is sent any more
  bool ended_ = false;
  std::uint64_t frames_ = 0;  // so far
  std::jthread writer_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_TCP_FRAME_STREAM_H_
