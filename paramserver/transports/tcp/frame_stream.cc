// Only one thread at a time sends, so a frame is never torn. That is the thread in `Send`, as long
// as the kernel takes the frame without waiting, or the stream's own thread.
#include "ringside/paramserver/transports/tcp/frame_stream.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace ringside {
namespace {

constexpr std::size_t kFrames = 64;              // that may wait before more room is allocated
constexpr std::size_t kSkipBytes = 64UL << 10U;  // at a time

}  // namespace

bool FrameStream::LeavesLater(const OutgoingFrame* frame, const OutgoingFrame* other) {
  if (frame->urgency_ != other->urgency_) return frame->urgency_ < other->urgency_;
  return frame->age_ > other->age_;
}

FrameStream::FrameStream(FileDescriptor socket) : socket_(std::move(socket)) {
  waiting_.reserve(kFrames);
  writer_ = std::jthread([this] { Write(); });
}

FrameStream::~FrameStream() {
  End();
  writer_ = {};  // joins
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !sending_; });
}

void FrameStream::Send(OutgoingFrame& frame, const FrameHeader& header,
                       std::span<const std::byte> payload, std::uint32_t urgency) {
  frame.header_ = EncodeHeader(header);
  frame.payload_ = payload;
  frame.sent_ = 0;
  frame.urgency_ = urgency;
  std::unique_lock lock(mutex_);
  frame.age_ = frames_++;
  if (ended_ || finished_) {
    lock.unlock();
    return frame.Released();
  }
  if (sending_ || handed_over_ != nullptr || !waiting_.empty()) {
    waiting_.push_back(&frame);
    std::ranges::push_heap(waiting_, LeavesLater);
    changed_.notify_all();
    return;
  }
  sending_ = true;
  lock.unlock();
  const Pumped pumped = Pump(frame, MSG_DONTWAIT);
  if (pumped == Pumped::kFailed) OnSendFailed();
  lock.lock();
  sending_ = false;
  const bool later = pumped == Pumped::kLater && !ended_;
  if (later) handed_over_ = &frame;
  changed_.notify_all();  // with the mutex: the stream may be gone without it
  lock.unlock();
  if (!later) frame.Released();
}

FrameStream::Pumped FrameStream::Pump(OutgoingFrame& frame, int flags) const {
  while (true) {
    const std::size_t of_header = std::min(frame.sent_, FrameHeader::kBytes);
    const auto header = std::span(frame.header_).subspan(of_header);
    const auto payload = frame.payload_.subspan(frame.sent_ - of_header);
    if (header.empty() && payload.empty()) return Pumped::kDone;
    // The kernel only reads, though its interface asks for mutable pointers.
    std::array<iovec, 2> parts{
        {{header.data(), header.size()}, {const_cast<std::byte*>(payload.data()), payload.size()}}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t sent = sendmsg(socket_.get(), &message, flags | MSG_NOSIGNAL);
    if (sent >= 0) {
      frame.sent_ += static_cast<std::size_t>(sent);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return Pumped::kLater;
    } else if (errno != EINTR) {
      return Pumped::kFailed;
    }
  }
}

void FrameStream::Write() {
  while (OutgoingFrame* frame = Next()) {
    const Pumped pumped = Pump(*frame, 0);
    if (pumped != Pumped::kDone) OnSendFailed();
    {
      const std::lock_guard lock(mutex_);
      sending_ = false;
      changed_.notify_all();
    }
    frame->Released();
  }
}

OutgoingFrame* FrameStream::Next() {
  std::unique_lock lock(mutex_);
  const auto has_work = [this] { return handed_over_ != nullptr || !waiting_.empty(); };
  changed_.wait(lock, [&] { return ended_ || (!sending_ && has_work()); });
  if (ended_) return nullptr;
  sending_ = true;
  if (handed_over_ != nullptr) return std::exchange(handed_over_, nullptr);
  std::ranges::pop_heap(waiting_, LeavesLater);
  OutgoingFrame* const next = waiting_.back();
  waiting_.pop_back();
  return next;
}

FrameStream::Header FrameStream::ReceiveHeader(FrameHeader& header) {
  std::array<std::byte, FrameHeader::kBytes> bytes{};
  if (!Receive(bytes)) return Header::kClosed;
  return DecodeHeader(bytes, header) == FrameError::kNone ? Header::kDone : Header::kDamaged;
}

bool FrameStream::Receive(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t received = recv(socket_.get(), bytes.data(), bytes.size(), MSG_WAITALL);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(received));
  }
  return true;
}

bool FrameStream::Skip(std::uint64_t bytes) {
  std::vector<std::byte> unwanted(std::min<std::uint64_t>(bytes, kSkipBytes));
  while (bytes > 0) {
    const auto part = std::span(unwanted).first(std::min<std::uint64_t>(bytes, unwanted.size()));
    if (!Receive(part)) return false;
    bytes -= part.size();
  }
  return true;
}

void FrameStream::Drain(const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline.at(), [this] {
    return ended_ || (!sending_ && handed_over_ == nullptr && waiting_.empty());
  });
}

void FrameStream::FinishSending() {
  const std::lock_guard lock(mutex_);
  finished_ = true;
  // It fails only if the other side has closed. Then nothing can be sent, either.
  static_cast<void>(shutdown(socket_.get(), SHUT_WR));
}

// A connection with unread bytes that is closed loses what it has not delivered yet. So the other
// side must be able to go on.
void FrameStream::OnSendFailed() {
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
  }
  End();
}

// A frame that a thread sends just now is released by that thread.
void FrameStream::End() {
  std::vector<OutgoingFrame*> dropped;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    dropped.swap(waiting_);
    if (handed_over_ != nullptr) dropped.push_back(std::exchange(handed_over_, nullptr));
    // It fails only if the other side has closed. Then no wait needs to be ended.
    static_cast<void>(shutdown(socket_.get(), SHUT_RDWR));
    changed_.notify_all();
  }
  for (OutgoingFrame* frame : dropped) frame->Released();
}

}  // namespace ringside
