#include "ringside/common/sockets/waiting_room.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/common/sockets/tcp_socket.h"
#include "tests/common/few_descriptors.h"

namespace ringside {
namespace {

using Verdict = WaitingRoom::Verdict;
using Visitor = WaitingRoom::Visitor;

constexpr std::chrono::seconds kLong{30};

Deadline Later() { return Deadline::After(kLong); }

std::span<const std::byte> Bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

/// Whether the other side closes, without a byte before.
bool AwaitEnd(const FileDescriptor& socket) {
  std::byte byte{};
  const Deadline deadline = Later();
  return !ReceiveAll(socket.get(), {&byte, 1}, deadline) && !deadline.expired();
}

/// Whether the other side has closed. Never waits.
bool HasEnded(const FileDescriptor& socket) {
  std::byte byte{};
  return recv(socket.get(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

/// Admits who says "open!".
class WaitingRoomTest : public ::testing::Test {
 protected:
  static constexpr std::string_view kWord = "open!";

  WaitingRoom MakeRoom(const WaitingRoom::Options& options) const {
    return {ListenOnTcp("127.0.0.1"),
            [](Visitor& visitor) {
              const Verdict heard = WaitingRoom::Hear(visitor, kWord.size());
              if (heard != Verdict::kAdmit) return heard;
              const auto word = Bytes(kWord);
              return std::equal(word.begin(), word.end(), visitor.heard.begin()) ? Verdict::kAdmit
                                                                                 : Verdict::kRefuse;
            },
            options};
  }

  static FileDescriptor Connect(const WaitingRoom& room) {
    return FileDescriptor(ConnectTcp(TcpEndpointOf(room.listener()), Later()));
  }
  static FileDescriptor ConnectAndSay(const WaitingRoom& room, std::string_view text) {
    FileDescriptor socket = Connect(room);
    EXPECT_TRUE(SendAll(socket.get(), Bytes(text), Later()));
    return socket;
  }

  /// Waits until something happens, and takes who is admitted then.
  static std::vector<Visitor> Step(WaitingRoom& room) {
    std::vector<pollfd> entries;
    room.AddTo(entries);
    poll(entries.data(), entries.size(), static_cast<int>(WaitingRoom::kTick.count()));
    return room.Take();
  }
  /// The same until somebody is admitted; empty: nobody was in time.
  static std::vector<Visitor> AwaitAdmitted(WaitingRoom& room) {
    const Deadline deadline = Later();
    while (!deadline.expired()) {
      std::vector<Visitor> admitted = Step(room);
      if (!admitted.empty()) return admitted;
    }
    return {};
  }
};

TEST_F(WaitingRoomTest, AdmitsWhoSaysTheWordAndKeepsItsConnection) {
  WaitingRoom room = MakeRoom({});
  const FileDescriptor guest = ConnectAndSay(room, kWord);
  const std::vector<Visitor> admitted = AwaitAdmitted(room);
  ASSERT_EQ(admitted.size(), 1U);
  ASSERT_TRUE(SendAll(admitted.front().socket.get(), Bytes("welcome"), Later()));
  std::array<std::byte, 7> answer{};
  EXPECT_TRUE(ReceiveAll(guest.get(), answer, Later()));
}

TEST_F(WaitingRoomTest, AWordInPiecesIsAWord) {
  WaitingRoom room = MakeRoom({});
  const FileDescriptor guest = ConnectAndSay(room, kWord.substr(0, 2));
  EXPECT_TRUE(Step(room).empty());
  ASSERT_TRUE(SendAll(guest.get(), Bytes(kWord.substr(2)), Later()));
  EXPECT_EQ(AwaitAdmitted(room).size(), 1U);
}

TEST_F(WaitingRoomTest, StrangersBeforeAGuestDoNotKeepItOut) {
  WaitingRoom room = MakeRoom({});
  const FileDescriptor silent = Connect(room);
  const FileDescriptor garbage = ConnectAndSay(room, "GET / HTTP/1.1\r\n\r\n");
  { const FileDescriptor scan = Connect(room); }
  const FileDescriptor guest = ConnectAndSay(room, kWord);
  EXPECT_EQ(AwaitAdmitted(room).size(), 1U);
  EXPECT_TRUE(AwaitEnd(garbage));
  EXPECT_FALSE(HasEnded(silent)) << "it has not had its time";
}

TEST_F(WaitingRoomTest, WhoCameFirstLeavesWhereThereIsNoRoom) {
  WaitingRoom room = MakeRoom({.most = 2});
  std::vector<FileDescriptor> silent;
  for (int i = 0; i < 5; ++i) {
    silent.push_back(Connect(room));
    EXPECT_TRUE(Step(room).empty());
  }
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(AwaitEnd(silent[static_cast<std::size_t>(i)])) << i;
  EXPECT_FALSE(HasEnded(silent[3]));
  EXPECT_FALSE(HasEnded(silent[4]));
}

TEST_F(WaitingRoomTest, WhoSaysNothingLeavesAfterAWhile) {
  WaitingRoom room = MakeRoom({.patience = std::chrono::milliseconds(0)});
  const FileDescriptor silent = Connect(room);
  EXPECT_TRUE(Step(room).empty());
  EXPECT_TRUE(AwaitEnd(silent));
}

TEST_F(WaitingRoomTest, AGuestComesInWhenStrangersHaveTakenAllDescriptors) {
  WaitingRoom room = MakeRoom({});
  std::vector<FileDescriptor> silent;
  for (int i = 0; i < 8; ++i) silent.push_back(Connect(room));
  const FileDescriptor guest = ConnectAndSay(room, kWord);
  const FewDescriptors few(3);
  EXPECT_EQ(AwaitAdmitted(room).size(), 1U);
}

}  // namespace
}  // namespace ringside
