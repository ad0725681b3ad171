#include "ringside/paramserver/transports/grpc/connection_watch.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "ringside/common/base/file_descriptor.h"

namespace ringside {
namespace {

/// Whether it becomes so within half a minute.
bool Becomes(const std::function<bool()>& is_so) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

class ConnectionWatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> ends{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    mine_ = FileDescriptor(ends[0]);
    other_ = FileDescriptor(ends[1]);
  }

  bool CanSend() const { return send(mine_.get(), "x", 1, MSG_NOSIGNAL) == 1; }

  FileDescriptor mine_, other_;
  ConnectionWatch watch_;
};

TEST_F(ConnectionWatchTest, ShutsDownASocketWhoseOtherSideWritesNoMore) {
  watch_.Add(mine_.get());
  EXPECT_TRUE(CanSend());
  ASSERT_EQ(send(other_.get(), "last", 4, 0), 4);
  ASSERT_EQ(shutdown(other_.get(), SHUT_WR), 0);
  EXPECT_TRUE(Becomes([&] { return !CanSend(); }));
  std::array<char, 8> came{};
  EXPECT_EQ(recv(mine_.get(), came.data(), came.size(), 0), 4) << "what has arrived";
  EXPECT_EQ(recv(mine_.get(), came.data(), came.size(), 0), 0);
}

TEST_F(ConnectionWatchTest, WakesThoseWhoMissedTheEnd) {
  const FileDescriptor events(epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLET, .data = {}};
  ASSERT_EQ(epoll_ctl(events.get(), EPOLL_CTL_ADD, mine_.get(), &event), 0);
  watch_.Add(mine_.get());
  other_ = FileDescriptor();
  int ends = 0;
  EXPECT_TRUE(Becomes([&] {
    if (epoll_wait(events.get(), &event, 1, 100) == 1 && (event.events & EPOLLHUP) != 0) ++ends;
    return ends == 3;
  })) << ends
      << " events of the end";
}

TEST_F(ConnectionWatchTest, LeavesASocketAloneThatIsRemoved) {
  watch_.Add(mine_.get());
  watch_.Remove(mine_.get());
  std::array<int, 2> more{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, more.data()), 0);
  const FileDescriptor watched(more[0]), its_other(more[1]);
  watch_.Add(watched.get());
  ASSERT_EQ(shutdown(other_.get(), SHUT_WR), 0);
  ASSERT_EQ(shutdown(its_other.get(), SHUT_WR), 0);
  EXPECT_TRUE(Becomes([&] { return send(watched.get(), "x", 1, MSG_NOSIGNAL) < 0; }));
  EXPECT_TRUE(CanSend());
}

TEST(SharedConnectionWatch, IsOneAndEndsWithItsLastUser) {
  std::shared_ptr<ConnectionWatch> first = ConnectionWatch::Shared();
  const std::weak_ptr<ConnectionWatch> seen = first;
  EXPECT_EQ(ConnectionWatch::Shared(), first);
  first.reset();
  EXPECT_TRUE(seen.expired());
}

}  // namespace
}  // namespace ringside
