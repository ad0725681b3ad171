// Tests a worker's link with a server that breaks the protocol.
#include "ringside/paramserver/transports/tcp/tcp_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/paramserver/transports/handshake/server_handshake.h"
#include "ringside/paramserver/transports/transport_table.h"
#include "ringside/paramserver/wire/plan_message.h"
#include "tests/common/comm_error.h"
#include "tests/paramserver/transports/tcp/raw_connection.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kElements = 1000;

/// What a call was told.
class ToldCall : public CallObserver {
 public:
  void Sent(std::size_t bytes) override {
    const std::lock_guard lock(mutex_);
    ++sent_;
    bytes_ = bytes;
    changed_.notify_all();
  }
  void Received(const FrameHeader& header, const CopyCount& moved) override {
    const std::lock_guard lock(mutex_);
    ++outcomes_;
    reply_ = header;
    moved_ = moved.total();
    changed_.notify_all();
  }
  void Failed(const CommError& error) override {
    const std::lock_guard lock(mutex_);
    ++outcomes_;
    failure_ = error;
    changed_.notify_all();
  }

  /// Waits for both. The failure; nothing: the reply was received.
  std::optional<CommError> Await() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(30),
                                  [this] { return sent_ > 0 && outcomes_ > 0; }));
    return failure_;
  }
  std::string Failure() {
    const auto failure = Await();
    return failure ? failure->what() : "it was received";
  }
  void ExpectToldOnce() const {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(sent_, 1);
    EXPECT_EQ(outcomes_, 1);
  }
  std::uint64_t moved() const { return moved_; }
  std::size_t bytes() const { return bytes_; }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int sent_ = 0, outcomes_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t moved_ = 0;
  FrameHeader reply_;
  std::optional<CommError> failure_;
};

/// A link of worker 1 with one connection to this process, which acts as the server.
class TcpLinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::optional<RawConnection> accepted;
    std::jthread server([&] {
      accepted = Accept();
      Greet(*accepted);
    });
    link_ = Connect();
    server.join();
    server_ = std::move(accepted);
  }

  void TearDown() override {
    link_.reset();
    for (const ToldCall& call : calls_) call.ExpectToldOnce();
  }

  /// Reads the greeting of worker 1 and answers it.
  void Greet(RawConnection& accepted) const {
    Greeting theirs{};
    EXPECT_TRUE(ReceiveAll(accepted.file(), theirs, RawConnection::Later()));
    EXPECT_EQ(theirs, handshake_.OfWorker(1, 0));
    EXPECT_TRUE(accepted.Send(handshake_.OfServer(0, 1)));
  }

  std::unique_ptr<ServerLink> Connect() {
    return ConnectTcpLink(0, address_, {.worker = 1, .workers = 2, .connections = 1}, space_,
                          comm_);
  }

  RawConnection Accept() const {
    pollfd waiting{.fd = listener_.get(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&waiting, 1, 30'000), 1);
    return RawConnection(FileDescriptor(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)));
  }

  ToldCall& Push(std::uint32_t slice) {
    ToldCall& call = calls_.emplace_back();
    link_->Call(HeaderOf(slice), {.out = space_.grads(), .in = space_.params()}, call);
    return call;
  }
  static FrameHeader HeaderOf(std::uint32_t slice) {
    return {.worker = 1, .slice = slice, .bucket = slice, .step = 5};
  }

  /// Accepts the connection that the link makes again.
  void AcceptAgain() {
    server_ = Accept();
    Greet(*server_);
  }
  /// Receives the push of this slice, which says how often it was sent before.
  void ExpectPush(std::uint32_t slice, int repeats) {
    const auto request = server_->Receive();
    ASSERT_TRUE(request);
    EXPECT_EQ(request->header.slice, slice);
    EXPECT_EQ(request->header.repeats, repeats);
    EXPECT_EQ(request->header.payload_bytes, kElements * sizeof(float));
  }

  /// Replies to a push with these parameters.
  void Reply(std::uint32_t slice, const std::vector<float>& params) {
    EXPECT_TRUE(server_->Send(HeaderOf(slice), std::as_bytes(std::span(params))));
  }

  CommOptions comm_{.token = "the token", .timeout = std::chrono::seconds(30)};
  const ServerHandshake handshake_{ServerHandshake::Protocol::kFrames, comm_.token, 2, 1};
  const TransportTable transports_;
  const FileDescriptor listener_ = ListenOnTcp("127.0.0.1");
  const ServerAddress address_{&transports_.Named("tcp"), TcpEndpointOf(listener_.get())};
  FlatSpace space_{kElements};
  std::deque<ToldCall> calls_;  // they outlive the link
  std::unique_ptr<ServerLink> link_;
  std::optional<RawConnection> server_;
};

TEST_F(TcpLinkTest, AnswersMayComeInAnyOrder) {
  ToldCall& first = Push(1);
  ToldCall& second = Push(2);
  for (const std::uint32_t slice : {1U, 2U}) {
    const auto request = server_->Receive();
    ASSERT_TRUE(request);
    EXPECT_EQ(request->header.slice, slice);
    EXPECT_EQ(request->header.payload_bytes, kElements * sizeof(float));
  }
  Reply(2, std::vector<float>(kElements, 2.0F));
  EXPECT_FALSE(second.Await());
  EXPECT_EQ(space_.params()[kElements - 1], 2.0F);
  Reply(1, std::vector<float>(kElements, 1.0F));
  EXPECT_FALSE(first.Await());
  EXPECT_EQ(space_.params()[0], 1.0F);
  EXPECT_EQ(first.bytes(), kElements * sizeof(float));
  EXPECT_EQ(first.moved(), 0U) << "the kernel has written the parameters";
}

TEST_F(TcpLinkTest, ARefusalFailsOneCall) {
  ToldCall& refused = Push(1);
  ToldCall& other = Push(2);
  Refused reason;
  reason.set_message("enough");
  reason.set_culprit("worker 0");
  FrameHeader header = HeaderOf(1);
  header.refused = true;
  const std::string text = reason.SerializeAsString();
  EXPECT_TRUE(server_->Send(header, std::as_bytes(std::span(text))));
  EXPECT_THAT(refused.Failure(), HasSubstr("enough"));
  EXPECT_EQ(refused.Await()->peer(), "worker 0");
  Reply(2, std::vector<float>(kElements, 2.0F));
  EXPECT_FALSE(other.Await());
}

TEST_F(TcpLinkTest, ADamagedRefusalIsARefusal) {
  ToldCall& refused = Push(1);
  FrameHeader header = HeaderOf(1);
  header.refused = true;
  EXPECT_TRUE(server_->Send(header, std::vector<std::byte>(9, std::byte{0xff})));
  EXPECT_THAT(refused.Failure(), HasSubstr("a reason that is damaged"));
}

TEST_F(TcpLinkTest, ARefusalHasALimit) {
  ToldCall& refused = Push(1);
  ToldCall& other = Push(2);
  FrameHeader header = HeaderOf(1);
  header.refused = true;
  header.payload_bytes = FrameHeader::kMaxPayload;
  EXPECT_TRUE(server_->Send(header, {}));
  EXPECT_THAT(refused.Failure(), HasSubstr("the connection is lost"));
  EXPECT_THAT(other.Failure(), HasSubstr("the connection is lost"));
}

TEST_F(TcpLinkTest, AReplyOfAnotherLengthFailsItsCallAlone) {
  for (const std::size_t elements : {std::size_t{1}, kElements - 1, kElements + 1}) {
    ToldCall& wrong = Push(1);
    ToldCall& other = Push(2);
    Reply(1, std::vector<float>(elements, 9.0F));
    EXPECT_THAT(wrong.Failure(), HasSubstr("the reply belongs to another request"));
    Reply(2, std::vector<float>(kElements, 2.0F));
    EXPECT_FALSE(other.Await());
    EXPECT_EQ(space_.params()[0], 2.0F);
  }
}

TEST_F(TcpLinkTest, AReplyToNoCallEndsTheConnection) {
  ToldCall& call = Push(1);
  Reply(7, std::vector<float>(kElements));
  const std::string failure = call.Failure();
  EXPECT_THAT(failure, HasSubstr("the connection is lost"));
  EXPECT_THAT(failure, HasSubstr("server 0"));
  EXPECT_THAT(failure, HasSubstr("bucket 1, step 5"));
}

TEST_F(TcpLinkTest, AReplyToACallOfAnotherStepEndsTheConnection) {
  ToldCall& call = Push(1);
  FrameHeader header = HeaderOf(1);
  header.step = 4;
  EXPECT_TRUE(server_->Send(header, std::vector<std::byte>(kElements * sizeof(float))));
  EXPECT_THAT(call.Failure(), HasSubstr("the connection is lost"));
}

TEST_F(TcpLinkTest, ADamagedHeaderEndsTheConnection) {
  ToldCall& call = Push(1);
  EXPECT_TRUE(server_->Send(std::vector<std::byte>(FrameHeader::kBytes)));
  EXPECT_THAT(call.Failure(), HasSubstr("the connection is lost"));
}

TEST_F(TcpLinkTest, AServerThatLeavesInTheMiddleOfAPayloadFailsAllCalls) {
  ToldCall& begun = Push(1);
  ToldCall& other = Push(2);
  FrameHeader header = HeaderOf(1);
  header.payload_bytes = kElements * sizeof(float);
  EXPECT_TRUE(server_->Send(header, std::vector<std::byte>(100)));
  server_->Close();
  for (ToldCall* call : {&begun, &other}) {
    EXPECT_THAT(call->Failure(), HasSubstr("the connection is lost"));
  }
  EXPECT_THAT(Push(3).Failure(), HasSubstr("the connection is lost")) << "and those that begin";
}

TEST_F(TcpLinkTest, WhatHasNoReplyIsSentAgainOverANewConnection) {
  ToldCall& answered = Push(1);
  ToldCall& lost = Push(2);
  ExpectPush(1, 0);
  ExpectPush(2, 0);
  Reply(1, std::vector<float>(kElements, 1.0F));
  EXPECT_FALSE(answered.Await());
  server_->Close();
  AcceptAgain();
  ExpectPush(2, 1);
  Reply(2, std::vector<float>(kElements, 2.0F));
  EXPECT_FALSE(lost.Await());
  EXPECT_EQ(space_.params()[0], 2.0F);
  ToldCall& next = Push(3);
  ExpectPush(3, 0);
  Reply(3, std::vector<float>(kElements, 3.0F));
  EXPECT_FALSE(next.Await());
  EXPECT_EQ(link_->reconnects(), 1);
}

TEST_F(TcpLinkTest, AReplyThatWasCutIsTakenFromTheNextOne) {
  ToldCall& call = Push(1);
  FrameHeader header = HeaderOf(1);
  header.payload_bytes = kElements * sizeof(float);
  EXPECT_TRUE(server_->Send(header, std::vector<std::byte>(100)));
  server_->Close();
  AcceptAgain();
  ExpectPush(1, 1);
  Reply(1, std::vector<float>(kElements, 5.0F));
  EXPECT_FALSE(call.Await());
  EXPECT_EQ(space_.params()[0], 5.0F);
  EXPECT_EQ(space_.params()[kElements - 1], 5.0F);
}

TEST_F(TcpLinkTest, ACallThatBeginsMeanwhileIsSentOverTheNewConnection) {
  ToldCall& first = Push(1);
  server_->Close();
  server_ = Accept();  // the greeting waits
  ToldCall& second = Push(2);
  Greet(*server_);
  ExpectPush(1, 1);
  ExpectPush(2, 0);
  for (const std::uint32_t slice : {1U, 2U}) Reply(slice, std::vector<float>(kElements, 1.0F));
  EXPECT_FALSE(first.Await());
  EXPECT_FALSE(second.Await());
}

TEST_F(TcpLinkTest, EachRepeatOfAPushSaysHowManyThereWereBefore) {
  ToldCall& call = Push(1);
  for (int repeats = 0; repeats < kReconnectsInVain; ++repeats) {
    ExpectPush(1, repeats);
    server_->Close();
    AcceptAgain();
  }
  ExpectPush(1, kReconnectsInVain);
  Reply(1, std::vector<float>(kElements, 1.0F));
  EXPECT_FALSE(call.Await());
}

TEST_F(TcpLinkTest, AConnectionThatBringsNothingIsNotMadeAgain) {
  ToldCall& call = Push(1);
  for (int time = 0; time < kReconnectsInVain; ++time) {
    server_->Close();
    AcceptAgain();
  }
  server_->Close();
  EXPECT_THAT(call.Failure(), HasSubstr("the connection is lost"));
  EXPECT_THAT(Push(2).Failure(), HasSubstr("the connection is lost"));
}

TEST_F(TcpLinkTest, AServerThatNoLongerListensHasEnded) {
  ToldCall& call = Push(1);
  ASSERT_EQ(shutdown(listener_.get(), SHUT_RDWR), 0);
  const auto begin = Deadline::Clock::now();
  server_->Close();
  EXPECT_THAT(call.Failure(),
              ::testing::ContainsRegex("the connection is lost, and no new one could "
                                       "be made: .*Connection refused"));
  EXPECT_LT(Deadline::Clock::now() - begin, kReconnectTime) << "it is not called again and again";
}

TEST_F(TcpLinkTest, AStartIsNotSentAgain) {
  std::jthread server([&] {
    EXPECT_TRUE(server_->Receive());
    server_->Close();
  });
  const CommError error =
      CommErrorOf([&] { link_->Start({.worker = 1, .workers = 2, .servers = 1}); });
  EXPECT_THAT(error.what(), HasSubstr("the connection is lost"));
  EXPECT_EQ(link_->reconnects(), 0);
}

TEST_F(TcpLinkTest, TheEndOfTheLinkFailsItsCalls) {
  ToldCall& call = Push(1);
  link_.reset();
  EXPECT_THAT(call.Failure(), HasSubstr("the connection is lost"));
}

TEST_F(TcpLinkTest, AServerThatReadsNothingDoesNotHoldUpTheEnd) {
  FlatSpace large(std::size_t{4} << 20);
  ToldCall& call = calls_.emplace_back();
  link_->Call(HeaderOf(1), {.out = large.grads(), .in = large.params()}, call);
  link_.reset();
  EXPECT_THAT(call.Failure(), HasSubstr("the connection is lost"));
}

TEST_F(TcpLinkTest, AStartThatIsNotAnsweredFailsInTime) {
  comm_.timeout = std::chrono::milliseconds(1);
  std::optional<RawConnection> silent;
  std::jthread server([&] {
    silent = Accept();
    Greet(*silent);
  });
  const auto link = Connect();
  server.join();
  const CommError error =
      CommErrorOf([&] { link->Start({.worker = 1, .workers = 2, .servers = 1}); });
  EXPECT_THAT(error.what(), HasSubstr("there was no answer in time"));
  EXPECT_THAT(error.peer(), HasSubstr("server 0"));
}

TEST_F(TcpLinkTest, AServerThatDoesNotGreetFailsTheConnection) {
  comm_.timeout = comm_.start_timeout = std::chrono::milliseconds(1);
  const CommError error = CommErrorOf([&] { Connect(); });
  EXPECT_THAT(error.what(), HasSubstr("in time"));
  EXPECT_THAT(error.peer(), HasSubstr("server 0"));
}

}  // namespace
}  // namespace ringside
