#include "ringside/paramserver/transports/tcp/frame_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace ringside {
namespace {

using ::testing::ElementsAre;

constexpr std::size_t kLarge = std::size_t{16} << 20;  // more than a socket takes at once
constexpr std::chrono::seconds kLong{30};

/// A frame that counts its releases.
class CountedFrame : public OutgoingFrame {
 public:
  void Released() override {
    const std::lock_guard lock(mutex_);
    ++releases_;
    changed_.notify_all();
  }
  int releases() const {
    const std::lock_guard lock(mutex_);
    return releases_;
  }
  bool AwaitRelease() const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kLong, [this] { return releases_ > 0; });
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  int releases_ = 0;
};

FrameHeader HeaderOf(std::uint32_t slice, std::size_t bytes) {
  return {.slice = slice, .payload_bytes = bytes};
}

std::vector<std::byte> Pattern(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> pattern(bytes);
  for (std::size_t i = 0; i < bytes; ++i) pattern[i] = static_cast<std::byte>(i * 31 + seed);
  return pattern;
}

/// Two streams, connected with each other. Frames and their memory outlive them.
class FrameStreamTest : public ::testing::Test {
 protected:
  FrameStreamTest() {
    std::array<int, 2> files{-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, files.data()), 0);
    near_.emplace(FileDescriptor(files[0]));
    far_.emplace(FileDescriptor(files[1]));
  }

  CountedFrame& Send(std::uint32_t slice, std::span<const std::byte> payload,
                     std::uint32_t urgency = 0) {
    CountedFrame& frame = frames_.emplace_back();
    near_->Send(frame, HeaderOf(slice, payload.size()), payload, urgency);
    return frame;
  }

  /// Receives a frame at the other end, whose payload must be `expected`. Returns its slice.
  std::uint32_t Receive(std::span<const std::byte> expected) {
    FrameHeader header;
    EXPECT_EQ(far_->ReceiveHeader(header), FrameStream::Header::kDone);
    EXPECT_EQ(header.payload_bytes, expected.size());
    std::vector<std::byte> payload(header.payload_bytes);
    EXPECT_TRUE(far_->Receive(payload));
    EXPECT_TRUE(std::ranges::equal(payload, expected)) << "slice " << header.slice;
    return header.slice;
  }

  const std::vector<std::byte> large_ = Pattern(kLarge, 7);
  const std::vector<std::byte> small_ = Pattern(100, 3);
  std::deque<CountedFrame> frames_;
  std::optional<FrameStream> near_, far_;
};

TEST_F(FrameStreamTest, SendsASmallFrameAtOnce) {
  const CountedFrame& frame = Send(5, small_);
  EXPECT_EQ(frame.releases(), 1);
  EXPECT_EQ(Receive(small_), 5U);
  const CountedFrame& empty = Send(6, {});
  EXPECT_EQ(empty.releases(), 1);
  EXPECT_EQ(Receive({}), 6U);
}

TEST_F(FrameStreamTest, DoesNotWaitForAReader) {
  const CountedFrame& frame = Send(1, large_);
  EXPECT_EQ(frame.releases(), 0) << "the kernel cannot have it all";
  EXPECT_EQ(Receive(large_), 1U);
  EXPECT_TRUE(frame.AwaitRelease());
  EXPECT_EQ(frame.releases(), 1);
}

TEST_F(FrameStreamTest, TheMostUrgentFrameLeavesFirstThenTheOldest) {
  Send(0, large_);
  Send(1, small_, 1);
  Send(2, small_, 5);
  Send(3, small_, 3);
  Send(4, small_, 5);
  EXPECT_EQ(Receive(large_), 0U) << "a frame that has begun is not torn";
  std::vector<std::uint32_t> order;
  for (int i = 0; i < 4; ++i) order.push_back(Receive(small_));
  EXPECT_THAT(order, ElementsAre(2, 4, 3, 1));
}

TEST_F(FrameStreamTest, FramesOfManyThreadsAreNotTorn) {
  constexpr int kThreads = 4;
  constexpr std::uint32_t kEach = 100;
  std::vector<std::vector<std::byte>> payloads;
  std::vector<std::deque<CountedFrame>> frames(kThreads);
  for (unsigned i = 0; i < kEach; ++i) payloads.push_back(Pattern(i * 997 % 50'000, i));
  {
    std::vector<std::jthread> senders;
    for (int thread = 0; thread < kThreads; ++thread) {
      senders.emplace_back([&, thread] {
        for (std::uint32_t i = 0; i < kEach; ++i) {
          CountedFrame& frame = frames[std::size_t(thread)].emplace_back();
          near_->Send(frame, HeaderOf(i, payloads[i].size()), payloads[i], i % 3);
        }
      });
    }
    for (std::uint32_t i = 0; i < kThreads * kEach; ++i) {
      FrameHeader header;
      ASSERT_EQ(far_->ReceiveHeader(header), FrameStream::Header::kDone);
      std::vector<std::byte> payload(header.payload_bytes);
      ASSERT_TRUE(far_->Receive(payload));
      ASSERT_EQ(payload, payloads[header.slice]);
    }
  }
  near_.reset();
  for (const auto& of_thread : frames) {
    for (const CountedFrame& frame : of_thread) EXPECT_EQ(frame.releases(), 1);
  }
}

TEST_F(FrameStreamTest, TheEndReleasesEveryFrameOnce) {
  Send(0, large_);
  for (std::uint32_t i = 1; i < 5; ++i) Send(i, small_);
  near_->End();
  near_->End();
  Send(5, small_);
  for (const CountedFrame& frame : frames_) EXPECT_TRUE(frame.AwaitRelease());
  near_.reset();
  for (const CountedFrame& frame : frames_) EXPECT_EQ(frame.releases(), 1);
}

TEST_F(FrameStreamTest, WhenTheOtherSideLeavesFramesAreReleased) {
  Send(0, large_);
  Send(1, small_);
  far_.reset();
  for (const CountedFrame& frame : frames_) EXPECT_TRUE(frame.AwaitRelease());
  EXPECT_TRUE(Send(2, small_).AwaitRelease());
  near_.reset();
  for (const CountedFrame& frame : frames_) EXPECT_EQ(frame.releases(), 1);
}

TEST_F(FrameStreamTest, TheEndEndsAReceive) {
  std::jthread ender([this] { far_->End(); });
  FrameHeader header;
  EXPECT_EQ(far_->ReceiveHeader(header), FrameStream::Header::kClosed);
}

TEST_F(FrameStreamTest, FinishedSendingTheOtherSideReadsAllAndThenTheEnd) {
  Send(0, large_);
  Send(1, small_);
  std::jthread finisher([this] {
    near_->Drain(Deadline::After(kLong));
    near_->FinishSending();
  });
  EXPECT_EQ(Receive(large_), 0U);
  EXPECT_EQ(Receive(small_), 1U);
  FrameHeader header;
  EXPECT_EQ(far_->ReceiveHeader(header), FrameStream::Header::kClosed);
}

// Otherwise the connection would be closed with unread bytes, and the other side could lose what it
// has not read yet.
TEST_F(FrameStreamTest, GoesOnReceivingWhenNothingIsSentAnyMore) {
  near_->FinishSending();
  EXPECT_EQ(Send(0, large_).releases(), 1) << "released at once";
  CountedFrame& from_far = frames_.emplace_back();
  far_->Send(from_far, HeaderOf(1, small_.size()), small_, 0);
  FrameHeader header;
  EXPECT_EQ(near_->ReceiveHeader(header), FrameStream::Header::kDone);
  EXPECT_TRUE(near_->Skip(header.payload_bytes));
  EXPECT_EQ(far_->ReceiveHeader(header), FrameStream::Header::kClosed);
}

TEST_F(FrameStreamTest, FinishesInTheMiddleOfAFrameWithoutEndingTheConnection) {
  const CountedFrame& frame = Send(0, large_);
  near_->FinishSending();
  EXPECT_TRUE(frame.AwaitRelease());
  CountedFrame& from_far = frames_.emplace_back();
  far_->Send(from_far, HeaderOf(1, 0), {}, 0);
  FrameHeader header;
  EXPECT_EQ(near_->ReceiveHeader(header), FrameStream::Header::kDone);
}

TEST_F(FrameStreamTest, ADrainEndsAtItsDeadlineAndWithTheStream) {
  Send(0, large_);
  near_->Drain(Deadline::After(std::chrono::milliseconds(1)));
  EXPECT_EQ(frames_.front().releases(), 0);
  std::jthread ender([this] { near_->End(); });
  near_->Drain(Deadline::After(std::chrono::hours(1)));
}

TEST_F(FrameStreamTest, SkipsExactlyAPayload) {
  const std::vector<std::byte> unwanted = Pattern(200'000, 1);
  Send(0, unwanted);
  FrameHeader header;
  std::jthread sender([this] { Send(1, small_); });
  ASSERT_EQ(far_->ReceiveHeader(header), FrameStream::Header::kDone);
  EXPECT_TRUE(far_->Skip(header.payload_bytes));
  EXPECT_TRUE(far_->Skip(0));
  EXPECT_EQ(Receive(small_), 1U);
}

TEST_F(FrameStreamTest, KnowsADamagedHeaderFromTheEnd) {
  const auto whole = EncodeHeader(HeaderOf(0, 0));
  const auto receive_after = [&](std::span<const std::byte> bytes) {
    std::array<int, 2> files{-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, files.data()), 0);
    FileDescriptor raw(files[0]);
    FrameStream stream{FileDescriptor(files[1])};
    EXPECT_EQ(send(raw.get(), bytes.data(), bytes.size(), 0), std::ssize(bytes));
    raw.Close();
    FrameHeader header;
    return stream.ReceiveHeader(header);
  };
  EXPECT_EQ(receive_after(whole), FrameStream::Header::kDone);
  EXPECT_EQ(receive_after(std::span(whole).first(whole.size() - 1)), FrameStream::Header::kClosed);
  EXPECT_EQ(receive_after({}), FrameStream::Header::kClosed);
  for (std::size_t at = 0; at < 8; ++at) {  // magic, protocol, kind
    auto damaged = whole;
    damaged[at] ^= std::byte{0x80};
    EXPECT_EQ(receive_after(damaged), FrameStream::Header::kDamaged) << at;
  }
  const auto largest = EncodeHeader(HeaderOf(0, FrameHeader::kMaxPayload));
  EXPECT_EQ(receive_after(largest), FrameStream::Header::kDone);
  for (const std::uint64_t bytes : {FrameHeader::kMaxPayload + 1, ~std::uint64_t{0}}) {
    EXPECT_EQ(receive_after(EncodeHeader(HeaderOf(0, bytes))), FrameStream::Header::kDamaged);
  }
}

}  // namespace
}  // namespace ringside
