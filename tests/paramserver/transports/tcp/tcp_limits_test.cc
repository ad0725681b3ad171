// What a server behind plain TCP takes at most from those who know the token.
#include <gtest/gtest.h>

#include <deque>
#include <thread>
#include <vector>

#include "tests/paramserver/transports/tcp/tcp_server.h"

namespace ringside {
namespace {

class TcpLimitsTest : public TcpServerTest {
 protected:
  static constexpr std::size_t kFloats = std::size_t{1} << 18;  // of a large slice
  static constexpr std::size_t kSliceBytes = kFloats * sizeof(float);

  /// Whether another connection is taken.
  bool IsServed() const {
    RawConnection connection = Admitted(1);
    return connection.Send(Pull(1), {}) && connection.Receive();
  }

  /// Sends all pushes of worker 0 again and again, and reads the answers that come at once.
  void PushEverything(RawConnection& connection, std::uint32_t slices, int rounds) const {
    const std::vector<float> gradient(kFloats, 1.0F);
    for (int round = 0; round < rounds; ++round) {
      for (std::uint32_t i = 0; i < slices; ++i) {
        EXPECT_TRUE(connection.Send({.slice = i, .bucket = i}, Bytes(gradient)));
      }
    }
    EXPECT_TRUE(connection.Send(Pull(0), {}));
    auto frame = connection.Receive();
    while (frame && frame->header.kind != FrameKind::kPull) frame = connection.Receive();
    EXPECT_TRUE(frame) << "the server has ended the connection";
  }
};

TEST_F(TcpLimitsTest, TakesNoMoreConnectionsThanWorkersCanHave) {
  StartTable();
  std::deque<RawConnection> connections;
  for (std::size_t i = 0; i < MostConnections(kWorkers); ++i) {
    connections.push_back(Admitted(0));
    ExpectServing(connections.back(), 0);
  }
  RawConnection another = Admitted(1);
  EXPECT_TRUE(another.AwaitEnd());
  ExpectServing(connections.front(), 0);
  connections.pop_back();
  const Deadline deadline = RawConnection::Later();
  while (!IsServed()) ASSERT_FALSE(deadline.expired()) << "a place that is free is not used";
}

// Worker 1 pushes nothing, so one push of each slice waits. All others are refused.
TEST_F(TcpLimitsTest, ABacklogIsAGradientOfAWorkerAndASliceOfAConnection) {
  constexpr std::uint32_t kSlices = 8;
  constexpr std::size_t kConnections = 4;
  constexpr int kRounds = 8;
  StartTable(std::vector<std::size_t>(kSlices, kFloats));
  std::deque<RawConnection> connections;
  for (std::size_t i = 0; i < kConnections; ++i) connections.push_back(Admitted(0));
  {
    std::vector<std::jthread> senders;
    senders.reserve(kConnections);
    for (RawConnection& connection : connections) {
      senders.emplace_back([&] { PushEverything(connection, kSlices, kRounds); });
    }
  }
  EXPECT_EQ(table_.counters().waiting, static_cast<int>(kSlices));
  EXPECT_GE(listener_->gradient_memory(), kSlices * kSliceBytes);
  EXPECT_LE(listener_->gradient_memory(), (kSlices + kConnections) * kSliceBytes);
}

// The sockets' buffers have room for some answers, too.
TEST_F(TcpLimitsTest, ServesNoMoreRequestsOfAWorkerThatReadsNoAnswers) {
  constexpr std::size_t kPulls = 300;
  constexpr std::size_t kInTheKernel = 64;
  StartTable(std::vector<std::size_t>{kFloats});
  const std::vector<float> gradient(kFloats, 1.0F);
  std::deque<RawConnection> workers;
  for (const int worker : {0, 1}) workers.push_back(Admitted(worker));
  for (const std::uint32_t worker : {0U, 1U}) {
    ASSERT_TRUE(workers[worker].Send(Push(worker), Bytes(gradient)));
  }
  for (RawConnection& worker : workers) ASSERT_TRUE(worker.Receive());  // now pulls are counted
  const auto served = [&, before = table_.counters().bytes_sent] {
    return (table_.counters().bytes_sent - before) / kSliceBytes;
  };
  RawConnection& lazy = workers.front();
  for (std::size_t i = 0; i < kPulls; ++i) ASSERT_TRUE(lazy.Send(Pull(0), {}));
  const std::size_t unread = table_.most_calls_of_a_worker();
  while (served() < unread) std::this_thread::yield();
  for (std::size_t read = 1; read <= kPulls; ++read) {
    ASSERT_TRUE(lazy.Receive());
    ASSERT_LE(served(), read + unread + kInTheKernel);
  }
}

}  // namespace
}  // namespace ringside
