#include "ringside/paramserver/transports/tcp/tcp_handshake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "ringside/common/core/file_descriptor.h"
#include "ringside/common/sockets/tcp_socket.h"
#include "tests/common/comm_error.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

/// Server 1 of 2, and 3 workers. Both ends of a connection.
class TcpHandshakeTest : public ::testing::Test {
 protected:
  static constexpr int kServer = 1;

  TcpHandshakeTest() {
    std::array<int, 2> files{-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, files.data()), 0);
    worker_ = FileDescriptor(files[0]);
    server_ = FileDescriptor(files[1]);
  }

  static Deadline Later() { return Deadline::After(std::chrono::seconds(30)); }

  /// The error of a server that reads these bytes.
  CommError Refused(std::span<const std::byte> bytes) {
    EXPECT_TRUE(SendAll(worker_.get(), bytes, Later()));
    EXPECT_EQ(shutdown(worker_.get(), SHUT_WR), 0);
    return CommErrorOf([&] { handshake_.ReadWorker(server_.get(), kServer, Later()); });
  }

  /// The error of worker 2 that reads these bytes.
  CommError WorkerError(std::span<const std::byte> bytes) {
    EXPECT_TRUE(SendAll(server_.get(), bytes, Later()));
    EXPECT_EQ(shutdown(server_.get(), SHUT_WR), 0);
    return CommErrorOf(
        [&] { handshake_.Join(worker_.get(), 2, kServer, "server 1 at here", Later()); });
  }

  const TcpHandshake handshake_{"the token", 3, 2};
  FileDescriptor worker_, server_;
};

TEST_F(TcpHandshakeTest, BothSidesKnowEachOther) {
  std::jthread worker([this] { handshake_.Join(worker_.get(), 2, kServer, "server 1", Later()); });
  EXPECT_EQ(handshake_.ReadWorker(server_.get(), kServer, Later()), 2);
  handshake_.Answer(server_.get(), kServer, 2, Later());
}

TEST_F(TcpHandshakeTest, TheServerRefusesAWrongToken) {
  const CommError error = Refused(TcpHandshake("the tokem", 3, 2).OfWorker(2, kServer));
  EXPECT_THAT(error.what(), HasSubstr("does not know the token"));
  EXPECT_THAT(error.peer(), HasSubstr("the process at "));
}

TEST_F(TcpHandshakeTest, TheServerRefusesAnEmptyToken) {
  EXPECT_THAT(Refused(TcpHandshake("", 3, 2).OfWorker(2, kServer)).what(), HasSubstr("token"));
}

TEST_F(TcpHandshakeTest, TheServerRefusesAProofForAnotherServer) {
  EXPECT_THAT(Refused(handshake_.OfWorker(2, 0)).what(), HasSubstr("token"));
}

TEST_F(TcpHandshakeTest, TheServerRefusesAProofForAnotherWorld) {
  EXPECT_THAT(Refused(TcpHandshake("the token", 4, 2).OfWorker(2, kServer)).what(),
              HasSubstr("token"));
}

TEST_F(TcpHandshakeTest, TheServerRefusesItsOwnAnswer) {
  EXPECT_THAT(Refused(handshake_.OfServer(kServer, 2)).what(), HasSubstr("token"));
}

TEST_F(TcpHandshakeTest, TheServerRefusesAnotherRankWithTheSameProof) {
  TcpHandshake::Greeting greeting = handshake_.OfWorker(2, kServer);
  greeting[8] = std::byte{0};  // the index
  EXPECT_THAT(Refused(greeting).what(), HasSubstr("token"));
}

TEST_F(TcpHandshakeTest, TheServerRefusesRanksThatDoNotExist) {
  EXPECT_THAT(Refused(handshake_.OfWorker(3, kServer)).what(), HasSubstr("there is no worker 3"));
}

TEST_F(TcpHandshakeTest, TheServerRefusesAnIndexThatIsNoRank) {
  TcpHandshake::Greeting greeting = handshake_.OfWorker(2, kServer);
  for (std::size_t at = 8; at < 12; ++at) greeting[at] = std::byte{0xff};
  EXPECT_THAT(Refused(greeting).what(), HasSubstr("token"));
}

TEST_F(TcpHandshakeTest, TheServerRefusesAnotherProtocol) {
  TcpHandshake::Greeting greeting = handshake_.OfWorker(2, kServer);
  greeting[0] ^= std::byte{1};
  EXPECT_THAT(Refused(greeting).what(), HasSubstr("does not speak this protocol"));
}

TEST_F(TcpHandshakeTest, TheServerRefusesAnotherVersion) {
  TcpHandshake::Greeting greeting = handshake_.OfWorker(2, kServer);
  greeting[4] ^= std::byte{2};
  EXPECT_THAT(Refused(greeting).what(), HasSubstr("another version"));
}

TEST_F(TcpHandshakeTest, TheServerRefusesHalfAGreeting) {
  const TcpHandshake::Greeting greeting = handshake_.OfWorker(2, kServer);
  EXPECT_THAT(Refused(std::span(greeting).first(greeting.size() - 1)).what(),
              HasSubstr("it has left"));
}

TEST_F(TcpHandshakeTest, SilenceEndsAtTheDeadline) {
  const Deadline now = Deadline::After(std::chrono::milliseconds(0));
  const CommError silent = CommErrorOf([&] { handshake_.ReadWorker(server_.get(), kServer, now); });
  EXPECT_THAT(silent.what(), HasSubstr("did not say in time who it is"));
  const CommError unanswered =
      CommErrorOf([&] { handshake_.Join(worker_.get(), 2, kServer, "server 1 at here", now); });
  EXPECT_THAT(unanswered.what(), HasSubstr("in time"));
  EXPECT_EQ(unanswered.peer(), "server 1 at here");
}

TEST_F(TcpHandshakeTest, TheWorkerRefusesAServerWithoutTheToken) {
  const CommError error = WorkerError(TcpHandshake("another", 3, 2).OfServer(kServer, 2));
  EXPECT_THAT(error.what(), HasSubstr("does not know the token"));
  EXPECT_EQ(error.peer(), "server 1 at here");
}

TEST_F(TcpHandshakeTest, TheWorkerRefusesItsOwnGreeting) {
  EXPECT_THAT(WorkerError(handshake_.OfWorker(2, kServer)).what(), HasSubstr("token"));
}

TEST_F(TcpHandshakeTest, TheWorkerRefusesTheAnswerToAnotherWorker) {
  EXPECT_THAT(WorkerError(handshake_.OfServer(kServer, 1)).what(), HasSubstr("token"));
}

TEST_F(TcpHandshakeTest, TheWorkerRefusesAnotherServer) {
  EXPECT_THAT(WorkerError(handshake_.OfServer(0, 2)).what(), HasSubstr("token"));
}

TEST_F(TcpHandshakeTest, TheWorkerNamesAServerThatClosesTheConnection) {
  const CommError error = WorkerError({});
  EXPECT_THAT(error.what(), HasSubstr("wrong token, or it is stopping"));
  EXPECT_EQ(error.peer(), "server 1 at here");
}

}  // namespace
}  // namespace ringside
