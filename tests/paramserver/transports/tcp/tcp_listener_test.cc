// Tests a server behind plain TCP with raw bytes, valid and invalid ones.
#include "ringside/paramserver/transports/tcp/tcp_listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <deque>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/paramserver/transports/handshake/server_handshake.h"
#include "ringside/paramserver/transports/transport_table.h"
#include "ringside/paramserver/wire/plan_message.h"
#include "tests/paramserver/transports/tcp/tcp_server.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TcpListenerTest : public TcpServerTest {};

TEST_F(TcpListenerTest, AnswersAllWorkersWithTheNewParameters) {
  StartTable();
  std::vector<RawConnection> workers;
  for (const int worker : {0, 1}) workers.push_back(Admitted(worker));
  for (const std::uint32_t worker : {0U, 1U}) {
    ASSERT_TRUE(workers[worker].Send(Push(worker), Bytes(gradient_)));
  }
  for (const std::uint32_t worker : {0U, 1U}) {
    const auto frame = workers[worker].Receive();
    ASSERT_TRUE(frame);
    EXPECT_FALSE(frame->header.refused);
    EXPECT_EQ(frame->header.worker, worker);
    EXPECT_EQ(frame->header.version, 1);
    EXPECT_EQ(Floats(*frame), std::vector<float>(kElements, 1.0F));
  }
  EXPECT_EQ(listener_->copies().total(), 0U);
}

/// The slices of the answers to a worker that reads none before all are known. The first answer is
/// larger than what the kernel takes.
class TcpListenerOrderTest : public TcpListenerTest {
 protected:
  static constexpr std::uint32_t kSlices = 5;  // each the only one of its bucket

  std::vector<std::uint32_t> OrderOfAnswers(SendOrder order) {
    context_.options.order = order;
    std::vector<std::size_t> elements;
    for (std::uint32_t i = 0; i < kSlices; ++i) elements.push_back(ValuesOf(i).size());
    StartTable(elements);
    RawConnection slow = Admitted(0);
    PushAll(slow, 0);
    while (table_.counters().waiting < static_cast<int>(kSlices)) std::this_thread::yield();
    RawConnection quick = Admitted(1);
    PushAll(quick, 1);
    // Its last answer is known after all answers to the other worker, except perhaps the last one.
    for (std::uint32_t i = 0; i < kSlices; ++i) EXPECT_TRUE(quick.Receive());
    std::vector<std::uint32_t> order_of_slices;
    for (std::uint32_t i = 0; i < kSlices; ++i) {
      const auto frame = slow.Receive();
      if (frame && frame->header.slice + 1 < kSlices) {
        order_of_slices.push_back(frame->header.slice);
      }
    }
    return order_of_slices;
  }

 private:
  const std::vector<float>& ValuesOf(std::uint32_t slice) const {
    return slice == 0 ? large_ : gradient_;
  }

  void PushAll(RawConnection& connection, std::uint32_t worker) const {
    for (std::uint32_t i = 0; i < kSlices; ++i) {
      EXPECT_TRUE(connection.Send({.worker = worker, .slice = i, .bucket = i}, Bytes(ValuesOf(i))));
    }
  }

  const std::vector<float> large_ = std::vector<float>(8 << 20, 1.0F);
};

TEST_F(TcpListenerOrderTest, AnswersLeaveInTheOrderInWhichTheyAreKnown) {
  EXPECT_THAT(OrderOfAnswers(SendOrder::kFifo), ElementsAre(0, 1, 2, 3));
}

TEST_F(TcpListenerOrderTest, UnderPriorityTheOneThatIsReadFirstOvertakes) {
  EXPECT_THAT(OrderOfAnswers(SendOrder::kPriority), ElementsAre(0, 3, 2, 1));
}

TEST_F(TcpListenerTest, ServesNobodyWithoutTheToken) {
  StartTable();
  for (const std::string token :
       {"", "secret of the jo", "secret of the job ", "secret of the joc"}) {
    RawConnection stranger = Connect();
    EXPECT_TRUE(stranger.Send(
        ServerHandshake(ServerHandshake::Protocol::kFrames, token, kWorkers, 1).OfWorker(0, 0)));
    EXPECT_TRUE(stranger.AwaitEnd()) << token;
  }
  ExpectServing();
}

TEST_F(TcpListenerTest, ServesNobodyBeforeTheGreeting) {
  StartTable();
  RawConnection stranger = Connect();
  EXPECT_TRUE(stranger.Send(Pull(0), {}));
  EXPECT_TRUE(stranger.AwaitEnd());
  ExpectServing();
}

TEST_F(TcpListenerTest, EndsConnectionsThatSendGarbage) {
  StartTable();
  std::mt19937 random(5);
  for (const std::size_t size : {1, 43, 44, 45, 55, 56, 57, 1000, 100'000}) {
    std::vector<std::byte> garbage(size);
    for (std::byte& byte : garbage) byte = static_cast<std::byte>(random());
    for (const bool admitted : {false, true}) {
      RawConnection connection = admitted ? Admitted(0) : Connect();
      connection.Send(garbage);
      connection.FinishSending();
      EXPECT_TRUE(connection.AwaitEnd()) << size;
    }
  }
  ExpectServing();
}

TEST_F(TcpListenerTest, SilentConnectionsDoNotHoldUpOthers) {
  StartTable();
  std::deque<RawConnection> silent;
  for (int i = 0; i < 50; ++i) silent.push_back(Connect());
  const auto greeting =
      ServerHandshake(ServerHandshake::Protocol::kFrames, comm_.token, kWorkers, 1).OfWorker(0, 0);
  EXPECT_TRUE(silent.back().Send(std::span(greeting).first(20)));
  ExpectServing();
}

TEST_F(TcpListenerTest, RefusesTheRequestOfAnotherWorker) {
  StartTable();
  RawConnection connection = Admitted(1);
  ASSERT_TRUE(connection.Send(Push(0), Bytes(gradient_)));
  EXPECT_THAT(Refusal(connection), HasSubstr("worker 0 on a connection of worker 1"));
  EXPECT_EQ(table_.counters().bytes_received, 0U);
  ExpectServing(connection, 1);
}

TEST_F(TcpListenerTest, RefusesThePlanOfAnotherWorker) {
  RawConnection connection = Admitted(1);
  const std::string plan = ToRequest(PlanOf(0)).SerializeAsString();
  ASSERT_TRUE(
      connection.Send({.kind = FrameKind::kStart, .worker = 1}, std::as_bytes(std::span(plan))));
  EXPECT_THAT(Refusal(connection), HasSubstr("a plan of worker 0"));
  StartTable();  // nobody has
  ExpectServing(connection, 1);
}

TEST_F(TcpListenerTest, RefusesAStartThatIsNoPlanOrTooLong) {
  RawConnection connection = Admitted(0);
  const std::vector<std::byte> garbage(10, std::byte{0xff});
  ASSERT_TRUE(connection.Send({.kind = FrameKind::kStart}, garbage));
  EXPECT_THAT(Refusal(connection), HasSubstr("not a StartRequest"));
  ASSERT_TRUE(connection.Send({.kind = FrameKind::kStart, .payload_bytes = 1UL << 30U}, {}));
  EXPECT_THAT(Refusal(connection), HasSubstr("a StartRequest of 1073741824 bytes"));
}

TEST_F(TcpListenerTest, RefusesSlicesAndPartsThatDoNotExist) {
  StartTable();
  RawConnection connection = Admitted(0);
  ASSERT_TRUE(connection.Send({.slice = 1, .bucket = 4}, Bytes(gradient_)));
  EXPECT_THAT(Refusal(connection), HasSubstr("slice 1 of bucket 4 is not on this server"));
  ASSERT_TRUE(connection.Send({.kind = FrameKind::kReadState, .part = 9}, {}));
  EXPECT_THAT(Refusal(connection), HasSubstr("there is no part 9"));
  ExpectServing(connection, 0);
}

TEST_F(TcpListenerTest, RefusesBeforeTheStart) {
  RawConnection connection = Admitted(0);
  ASSERT_TRUE(connection.Send(Push(0), Bytes(gradient_)));
  EXPECT_THAT(Refusal(connection), HasSubstr("the job has not been started"));
  StartTable();
  ExpectServing(connection, 0);
}

TEST_F(TcpListenerTest, RefusesAnotherLengthAndSkipsThePayload) {
  StartTable();
  RawConnection connection = Admitted(0);
  for (const std::size_t bytes : {std::size_t{0}, kBytes - 4, kBytes + 4, std::size_t{1} << 20}) {
    const std::vector<std::byte> payload(bytes);
    ASSERT_TRUE(connection.Send(Push(0), payload));
    EXPECT_THAT(Refusal(connection), HasSubstr("a payload of " + std::to_string(bytes)));
  }
  ASSERT_TRUE(connection.Send(Pull(0), Bytes(gradient_)));
  EXPECT_THAT(Refusal(connection), HasSubstr("a payload of 32 bytes"));
  ExpectServing(connection, 0);
}

// The refusal comes though hardly any of the payload does.
TEST_F(TcpListenerTest, TakesNoMemoryForAHugePayload) {
  StartTable();
  RawConnection connection = Admitted(0);
  FrameHeader header = Push(0);
  header.payload_bytes = FrameHeader::kMaxPayload;
  ASSERT_TRUE(connection.Send(header, Bytes(gradient_)));
  EXPECT_THAT(Refusal(connection), HasSubstr("a payload of "));
  header.payload_bytes = FrameHeader::kMaxPayload + 1;
  RawConnection another = Admitted(0);
  ASSERT_TRUE(another.Send(header, {}));
  EXPECT_TRUE(another.AwaitEnd());
  ExpectServing();
}

TEST_F(TcpListenerTest, SurvivesAWorkerThatLeavesInTheMiddleOfAFrame) {
  StartTable();
  const auto header = EncodeHeader({.payload_bytes = kBytes});
  std::vector<std::byte> frame(header.begin(), header.end());
  const auto payload = Bytes(gradient_);
  frame.insert(frame.end(), payload.begin(), payload.end());
  for (const std::size_t bytes :
       {std::size_t{1}, header.size() - 1, header.size(), frame.size() - 1}) {
    RawConnection connection = Admitted(0);
    ASSERT_TRUE(connection.Send(std::span(frame).first(bytes)));
    connection.FinishSending();
    EXPECT_TRUE(connection.AwaitEnd()) << bytes;
  }
  EXPECT_EQ(table_.counters().bytes_received, 0U);
  ExpectServing();
}

TEST_F(TcpListenerTest, NamesAWorkerThatLeavesWhileItsPushWaits) {
  StartTable();
  RawConnection gone = Admitted(0);
  RawConnection other = Admitted(1);
  ASSERT_TRUE(gone.Send(Push(0), Bytes(gradient_)));
  while (table_.counters().waiting < 1) std::this_thread::yield();
  gone.Close();
  while (table_.counters().waiting > 0) std::this_thread::yield();
  table_.FailExpired(Deadline::Clock::now() + std::chrono::hours(1));
  ASSERT_TRUE(other.Send(Push(1), Bytes(gradient_)));
  EXPECT_THAT(Refusal(other), HasSubstr("worker 0|"));
}

TEST_F(TcpListenerTest, ADamagedFrameWithdrawsThePushesBeforeIt) {
  StartTable();
  RawConnection connection = Admitted(0);
  ASSERT_TRUE(connection.Send(Push(0), Bytes(gradient_)));
  while (table_.counters().waiting < 1) std::this_thread::yield();
  ASSERT_TRUE(connection.Send(std::vector<std::byte>(FrameHeader::kBytes)));
  EXPECT_TRUE(connection.AwaitEnd());
  while (table_.counters().waiting > 0) std::this_thread::yield();
}

TEST_F(TcpListenerTest, AStopDeliversTheRefusalsBeforeIt) {
  StartTable();
  RawConnection connection = Admitted(0);
  ASSERT_TRUE(connection.Send(Push(0), Bytes(gradient_)));
  while (table_.counters().waiting < 1) std::this_thread::yield();
  table_.Fail({RefusalCode::kAborted, "server 0 is stopping", "server 0"});
  listener_->Stop();
  EXPECT_EQ(Refusal(connection), "server 0|server 0 is stopping");
  EXPECT_TRUE(connection.AwaitEnd());
}

TEST_F(TcpListenerTest, AStopWithdrawsPushesThatWait) {
  StartTable();
  RawConnection connection = Admitted(0);
  ASSERT_TRUE(connection.Send(Push(0), Bytes(gradient_)));
  while (table_.counters().waiting < 1) std::this_thread::yield();
  listener_->Stop();
  EXPECT_EQ(table_.counters().waiting, 0);
  EXPECT_TRUE(connection.AwaitEnd());
  listener_->Stop();
}

TEST_F(TcpListenerTest, StrangersCannotTakeThePlaceOfWorkers) {
  StartTable();
  RawConnection worker = Admitted(0);
  std::deque<RawConnection> strangers;
  for (int i = 0; i < 256; ++i) strangers.push_back(Connect());
  ExpectServing();  // one more connection, of worker 1
  EXPECT_TRUE(strangers.front().AwaitEnd()) << "the oldest one has left";
  ExpectServing(worker, 0);
}

/// Stacks of this size cannot be had, so no thread starts.
TEST_F(TcpListenerTest, IsRefusedWithoutAThread) {
  pthread_attr_t normal, impossible;
  ASSERT_EQ(pthread_getattr_default_np(&normal), 0);
  ASSERT_EQ(pthread_attr_init(&impossible), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&impossible, std::size_t{1} << 47), 0);
  ASSERT_EQ(pthread_setattr_default_np(&impossible), 0);
  EXPECT_THROW(Listen(), ResourceError);
  EXPECT_EQ(pthread_setattr_default_np(&normal), 0);
  pthread_attr_destroy(&impossible);
  pthread_attr_destroy(&normal);
}

TEST_F(TcpListenerTest, CannotListenAtWhatIsNoAddress) {
  CommOptions comm = comm_;
  comm.address = "nowhere";
  const ServerContext context{.index = 0,
                              .servers = 1,
                              .workers = kWorkers,
                              .store = store_,
                              .comm = comm,
                              .optimizer = optimizer_,
                              .schedule = schedule_,
                              .timeline = timeline_};
  EXPECT_THROW(ListenTcp(transports_.Named("tcp"), context, table_), CommError);
}

}  // namespace
}  // namespace ringside
