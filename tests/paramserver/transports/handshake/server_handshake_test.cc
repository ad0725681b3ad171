#include "ringside/paramserver/transports/handshake/server_handshake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "ringside/common/base/file_descriptor.h"
#include "ringside/common/sockets/tcp_socket.h"
#include "tests/common/comm_error.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

/// Server 1 of 2, and 3 workers. Both ends of a connection.
class ServerHandshakeTest : public ::testing::Test {
 protected:
  static constexpr int kServer = 1;
  static constexpr WaitingRoom::Verdict kRefused = WaitingRoom::Verdict::kRefuse;

  ServerHandshakeTest() {
    std::array<int, 2> files{-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, files.data()), 0);
    worker_ = FileDescriptor(files[0]);
    server_ = FileDescriptor(files[1]);
    visitor_.socket = FileDescriptor(dup(files[1]));
  }

  static Deadline Later() { return Deadline::After(std::chrono::seconds(30)); }

  /// The error of worker 2 that reads these bytes.
  CommError WorkerError(std::span<const std::byte> bytes) {
    EXPECT_TRUE(SendAll(server_.get(), bytes, Later()));
    EXPECT_EQ(shutdown(server_.get(), SHUT_WR), 0);
    return CommErrorOf(
        [&] { handshake_.Join(worker_.get(), 2, kServer, "server 1 at here", Later()); });
  }

  static ServerHandshake Handshake(const std::string& token, int workers, int servers) {
    return {ServerHandshake::Protocol::kFrames, token, workers, servers};
  }

  /// What a server does with a visitor who has said this. Forgets what it said if it is refused.
  WaitingRoom::Verdict Judged(std::span<const std::byte> bytes) {
    EXPECT_TRUE(SendAll(worker_.get(), bytes, Later()));
    const WaitingRoom::Verdict verdict = handshake_.Judge(visitor_, kServer);
    if (verdict == kRefused) visitor_.heard.clear();
    return verdict;
  }

  const ServerHandshake handshake_ = Handshake("the token", 3, 2);
  FileDescriptor worker_, server_;
  WaitingRoom::Visitor visitor_;
};

TEST_F(ServerHandshakeTest, BothSidesKnowEachOther) {
  std::jthread worker([this] { handshake_.Join(worker_.get(), 2, kServer, "server 1", Later()); });
  const Deadline later = Later();
  WaitingRoom::Verdict verdict = WaitingRoom::Verdict::kLater;
  while (verdict == WaitingRoom::Verdict::kLater && !later.expired()) {
    verdict = handshake_.Judge(visitor_, kServer);
    std::this_thread::yield();
  }
  ASSERT_EQ(verdict, WaitingRoom::Verdict::kAdmit);
  EXPECT_EQ(ServerHandshake::WorkerOf(visitor_), 2U);
}

TEST_F(ServerHandshakeTest, TheServerRefusesWhatIsNoGreetingOfAWorkerToIt) {
  Greeting other_rank = handshake_.OfWorker(2, kServer);
  other_rank[8] = std::byte{0};  // the index
  Greeting no_rank = handshake_.OfWorker(2, kServer);
  for (std::size_t at = 8; at < 12; ++at) no_rank[at] = std::byte{0xff};
  EXPECT_EQ(Judged(Handshake("the tokem", 3, 2).OfWorker(2, kServer)), kRefused) << "wrong token";
  EXPECT_EQ(Judged(Handshake("", 3, 2).OfWorker(2, kServer)), kRefused) << "empty token";
  EXPECT_EQ(Judged(Handshake("the token", 4, 2).OfWorker(2, kServer)), kRefused) << "another world";
  EXPECT_EQ(Judged(handshake_.OfWorker(2, 0)), kRefused) << "for another server";
  EXPECT_EQ(Judged(handshake_.OfServer(kServer, 2)), kRefused) << "its own answer";
  EXPECT_EQ(Judged(handshake_.OfWorker(3, kServer)), kRefused) << "there is no worker 3";
  EXPECT_EQ(Judged(other_rank), kRefused) << "another rank with the same proof";
  EXPECT_EQ(Judged(no_rank), kRefused) << "an index that is no rank";
}

TEST_F(ServerHandshakeTest, TheServerRefusesAVisitorThatLeavesInTheMiddle) {
  const Greeting greeting = handshake_.OfWorker(2, kServer);
  EXPECT_EQ(Judged(std::span(greeting).first(greeting.size() - 1)), WaitingRoom::Verdict::kLater);
  EXPECT_EQ(shutdown(worker_.get(), SHUT_WR), 0);
  EXPECT_EQ(handshake_.Judge(visitor_, kServer), kRefused);
}

TEST_F(ServerHandshakeTest, AServersSilenceEndsAtTheDeadline) {
  const Deadline now = Deadline::After(std::chrono::milliseconds(0));
  const CommError unanswered =
      CommErrorOf([&] { handshake_.Join(worker_.get(), 2, kServer, "server 1 at here", now); });
  EXPECT_THAT(unanswered.what(), HasSubstr("in time"));
  EXPECT_EQ(unanswered.peer(), "server 1 at here");
}

/// A server that closes this many connections before it greets a worker. Returns how many workers
/// called.
int ServeAfterClosing(int closed, const FileDescriptor& listener,
                      const ServerHandshake& handshake) {
  for (int calls = 1;; ++calls) {
    const FileDescriptor caller(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (caller.get() < 0) return calls - 1;  // nobody calls any more
    Greeting theirs{};
    EXPECT_TRUE(ReceiveAll(caller.get(), theirs, Deadline::After(std::chrono::seconds(30))));
    if (calls <= closed) continue;
    EXPECT_TRUE(
        SendAll(caller.get(), handshake.OfServer(1, 2), Deadline::After(std::chrono::seconds(30))));
    return calls;
  }
}

TEST_F(ServerHandshakeTest, AWorkerThatIsTurnedAwayCallsAgain) {
  const FileDescriptor listener(ListenOnTcp("127.0.0.1"));
  SetBlocking(listener.get());
  int calls = 0;
  std::jthread server([&] { calls = ServeAfterClosing(2, listener, handshake_); });
  EXPECT_NO_THROW(handshake_.Call(TcpEndpointOf(listener.get()), 2, kServer, "server 1", Later()));
  EXPECT_EQ(shutdown(listener.get(), SHUT_RDWR), 0);  // so that the server ends in any case
  server.join();
  EXPECT_EQ(calls, 3);
}

TEST_F(ServerHandshakeTest, AWorkerThatIsAlwaysTurnedAwayGivesUp) {
  const FileDescriptor listener(ListenOnTcp("127.0.0.1"));
  SetBlocking(listener.get());
  int calls = 0;
  std::jthread server([&] { calls = ServeAfterClosing(1000, listener, handshake_); });
  const CommError error = CommErrorOf([&] {
    handshake_.Call(TcpEndpointOf(listener.get()), 2, kServer, "server 1 at here", Later());
  });
  EXPECT_THAT(error.what(), HasSubstr("wrong token, or it is stopping"));
  EXPECT_EQ(error.peer(), "server 1 at here");
  EXPECT_EQ(shutdown(listener.get(), SHUT_RDWR), 0);
  server.join();
  EXPECT_EQ(calls, ServerHandshake::kCalls);
}

TEST_F(ServerHandshakeTest, TheWorkerRefusesAServerWithoutTheToken) {
  const CommError error = WorkerError(Handshake("another", 3, 2).OfServer(kServer, 2));
  EXPECT_THAT(error.what(), HasSubstr("does not know the token"));
  EXPECT_EQ(error.peer(), "server 1 at here");
}

TEST_F(ServerHandshakeTest, TheWorkerRefusesItsOwnGreeting) {
  EXPECT_THAT(WorkerError(handshake_.OfWorker(2, kServer)).what(), HasSubstr("token"));
}

TEST_F(ServerHandshakeTest, TheWorkerRefusesTheAnswerToAnotherWorker) {
  EXPECT_THAT(WorkerError(handshake_.OfServer(kServer, 1)).what(), HasSubstr("token"));
}

TEST_F(ServerHandshakeTest, TheWorkerRefusesAnotherServer) {
  EXPECT_THAT(WorkerError(handshake_.OfServer(0, 2)).what(), HasSubstr("token"));
}

TEST_F(ServerHandshakeTest, TheWorkerNamesAServerThatClosesTheConnection) {
  const CommError error = WorkerError({});
  EXPECT_THAT(error.what(), HasSubstr("wrong token, or it is stopping"));
  EXPECT_EQ(error.peer(), "server 1 at here");
}

TEST_F(ServerHandshakeTest, AVisitorIsAdmittedAndAnsweredOnceItsGreetingIsWhole) {
  const Greeting greeting = handshake_.OfWorker(2, kServer);
  EXPECT_EQ(Judged(std::span(greeting).first(43)), WaitingRoom::Verdict::kLater);
  std::byte nothing{};
  EXPECT_FALSE(
      ReceiveAll(worker_.get(), {&nothing, 1}, Deadline::After(std::chrono::milliseconds(0))));
  EXPECT_EQ(Judged(std::span(greeting).last(1)), WaitingRoom::Verdict::kAdmit);
  Greeting answer{};
  ASSERT_TRUE(ReceiveAll(worker_.get(), answer, Later()));
  EXPECT_EQ(answer, handshake_.OfServer(kServer, 2));
}

TEST_F(ServerHandshakeTest, WhatFollowsAVisitorsGreetingIsLeft) {
  std::vector<std::byte> bytes;
  for (const std::byte byte : handshake_.OfWorker(0, kServer)) bytes.push_back(byte);
  bytes.push_back(std::byte{'P'});
  EXPECT_EQ(Judged(bytes), WaitingRoom::Verdict::kAdmit);
  std::byte next{};
  ASSERT_TRUE(ReceiveAll(server_.get(), {&next, 1}, Later()));
  EXPECT_EQ(next, std::byte{'P'});
}

TEST_F(ServerHandshakeTest, AVisitorWithoutTheTokenIsRefusedWithoutAnAnswer) {
  EXPECT_EQ(Judged(Handshake("another", 3, 2).OfWorker(2, kServer)), WaitingRoom::Verdict::kRefuse);
  visitor_ = {};
  server_.Close();
  std::byte nothing{};
  EXPECT_FALSE(ReceiveAll(worker_.get(), {&nothing, 1}, Later()));
}

TEST_F(ServerHandshakeTest, AVisitorOfAnotherProtocolIsRefused) {
  const ServerHandshake grpc(ServerHandshake::Protocol::kGrpc, "the token", 3, 2);
  EXPECT_EQ(Judged(grpc.OfWorker(2, kServer)), WaitingRoom::Verdict::kRefuse);
}

}  // namespace
}  // namespace ringside
