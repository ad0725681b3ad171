// Tests a server behind shared memory with raw packets, valid and invalid ones.
#include "ringside/paramserver/transports/shm/shm_listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <cstring>
#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/memory_region.h"
#include "ringside/paramserver/server/consistency.h"
#include "ringside/paramserver/transports/sockets/packet_socket.h"
#include "ringside/paramserver/transports/transport_table.h"
#include "ringside/paramserver/wire/plan_message.h"
#include "tests/common/few_descriptors.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kElements = 8;
constexpr std::size_t kBytes = kElements * sizeof(float);

/// A server of one worker and one bucket. The worker's space: gradient, then parameters.
class ShmListenerTest : public ::testing::Test {
 protected:
  ShmListenerTest()
      : schedule_({.base = 1.0}),
        space_(MemoryRegion::CreateShared("space", 2 * kBytes)),
        context_{0, 1, 1, store_, comm_, optimizer_, schedule_, timeline_},
        table_(context_, [this] { return MakeSynchronous(1, schedule_); }),
        listener_(Listen()) {}

  std::unique_ptr<Listener> Listen() {
    return ListenShm(TransportTable().Named("shm"), context_, table_);
  }

  PacketSocket Connect() const {
    return PacketSocket::Connect(listener_->address().address, Deadline::After(comm_.timeout));
  }

  PacketSocket Greeted() {
    PacketSocket socket = Connect();
    EXPECT_TRUE(Exchange(socket, Hello()).welcome());
    return socket;
  }

  ShmRequest Hello() const {
    ShmRequest request;
    request.mutable_hello()->set_protocol(FrameHeader::kProtocol);
    request.mutable_hello()->set_token(comm_.token);
    request.mutable_hello()->mutable_space()->set_handle(space_.handle());
    request.mutable_hello()->mutable_space()->set_bytes(space_.bytes());
    return request;
  }

  static ShmRequest Frame(FrameHeader header, std::uint64_t out_bytes, std::uint64_t in_bytes) {
    header.payload_bytes = out_bytes;
    const auto bytes = EncodeHeader(header);
    ShmRequest request;
    request.set_frame(bytes.data(), bytes.size());
    request.set_out_bytes(out_bytes);
    request.set_in_offset(kBytes);
    request.set_in_bytes(in_bytes);
    return request;
  }

  /// A reply without anything: the connection has been closed.
  ShmReply Exchange(const PacketSocket& socket, const ShmRequest& request) const {
    return Exchange(socket, request.SerializeAsString());
  }
  ShmReply Exchange(const PacketSocket& socket, const std::string& packet) const {
    const Deadline deadline = Deadline::After(comm_.timeout);
    std::string answer;
    ShmReply reply;
    if (socket.Send(packet, deadline) == PacketSocket::Outcome::kDone &&
        socket.Receive(answer, deadline) == PacketSocket::Outcome::kDone) {
      EXPECT_TRUE(reply.ParseFromString(answer));
    }
    return reply;
  }

  void StartTable() {
    table_.Start({.worker = 0,
                  .workers = 1,
                  .server = 0,
                  .servers = 1,
                  .fingerprint = 1,
                  .step = 0,
                  .slices = {{.elements = kElements, .leads = true}}});
    table_.Load({.kind = FrameKind::kLoad, .payload_bytes = kBytes},
                OwnedPayload(std::vector<float>(kElements, 3.0F)));
  }

  float Parameter(std::size_t i) const {
    float value = 0;
    std::memcpy(&value, space_.data() + kBytes + i * sizeof(float), sizeof(float));
    return value;
  }

  /// Every refusal must leave a server that serves.
  void ExpectServing() {
    const PacketSocket socket = Greeted();
    const ShmReply reply = Exchange(socket, Frame({.kind = FrameKind::kPull}, 0, kBytes));
    EXPECT_FALSE(reply.has_refusal()) << reply.refusal().message();
    EXPECT_EQ(Parameter(kElements - 1), 3.0F);
  }

  InProcessStore store_;
  CommOptions comm_{.token = "secret of the job"};
  OptimizerOptions optimizer_;
  const Schedule schedule_;
  Timeline timeline_;
  MemoryRegion space_;
  ServerContext context_;
  ShardTable table_;
  std::unique_ptr<Listener> listener_;
};

TEST_F(ShmListenerTest, WritesNewParametersWhereTheyBelong) {
  StartTable();
  const PacketSocket socket = Greeted();
  const std::vector<float> gradient(kElements, 1.0F);
  std::memcpy(space_.data(), gradient.data(), kBytes);
  const ShmReply reply = Exchange(socket, Frame({.step = 0}, kBytes, kBytes));
  ASSERT_FALSE(reply.has_refusal()) << reply.refusal().message();
  for (std::size_t i = 0; i < kElements; ++i) EXPECT_EQ(Parameter(i), 2.0F);
  EXPECT_EQ(listener_->copies().total(), kBytes);
}

TEST_F(ShmListenerTest, MapsNothingWithoutTheToken) {
  StartTable();
  for (const char* token : {"", "secret of the jo", "secret of the job ", "secret of the joc"}) {
    ShmRequest hello = Hello();
    hello.mutable_hello()->set_token(token);
    const PacketSocket socket = Connect();
    const ShmReply reply = Exchange(socket, hello);
    EXPECT_FALSE(reply.welcome());
    EXPECT_THAT(reply.refusal().message(), HasSubstr("token"));
    EXPECT_EQ(Exchange(socket, Frame({.kind = FrameKind::kPull}, 0, kBytes)).ByteSizeLong(), 0U);
  }
  const PacketSocket silent = Connect();
  EXPECT_EQ(Exchange(silent, Frame({.kind = FrameKind::kPull}, 0, kBytes)).ByteSizeLong(), 0U);
  EXPECT_EQ(Parameter(0), 0.0F);
  ExpectServing();
}

TEST_F(ShmListenerTest, RefusesMemoryThatIsNotThereOrOfAnotherSize) {
  StartTable();
  ShmRequest larger = Hello();
  larger.mutable_hello()->mutable_space()->set_bytes(std::uint64_t{1} << 60);
  ShmRequest missing = Hello();
  missing.mutable_hello()->mutable_space()->set_handle("/proc/self/fd/9999#1.2");
  for (const ShmRequest& hello : {larger, missing}) {
    EXPECT_FALSE(Exchange(Connect(), hello).welcome());
  }
  ExpectServing();
}

TEST_F(ShmListenerTest, RefusesRangesOutsideTheSpace) {
  StartTable();
  const PacketSocket socket = Greeted();
  const std::uint64_t all = ~std::uint64_t{0};
  for (const auto& [offset, bytes] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {2 * kBytes, 4}, {kBytes + 4, kBytes}, {all, 4}, {4, all}, {all, all}, {0, 1 << 20}}) {
    ShmRequest out = Frame({}, bytes, kBytes);
    out.set_out_offset(offset);
    EXPECT_TRUE(Exchange(socket, out).has_refusal()) << offset << " " << bytes;
    ShmRequest in = Frame({.kind = FrameKind::kPull}, 0, bytes);
    in.set_in_offset(offset);
    EXPECT_TRUE(Exchange(socket, in).has_refusal()) << offset << " " << bytes;
  }
  EXPECT_TRUE(Exchange(socket, Frame({.kind = FrameKind::kPull}, 0, 4)).has_refusal());
  EXPECT_TRUE(Exchange(socket, Frame({}, 4, kBytes)).has_refusal());
  ExpectServing();
}

TEST_F(ShmListenerTest, EndsConnectionsThatSendGarbage) {
  StartTable();
  std::mt19937 random(5);
  for (const std::size_t size : {1, 8, 55, 56, 57, 1000, 4096, 5000}) {
    std::string garbage(size, '\0');
    for (char& byte : garbage) byte = static_cast<char>(random());
    Exchange(Connect(), garbage);
    Exchange(Greeted(), garbage);
    EXPECT_FALSE(Exchange(Connect(), garbage).welcome());
  }
  const PacketSocket twice = Greeted();
  EXPECT_EQ(Exchange(twice, Hello()).ByteSizeLong(), 0U);
  ExpectServing();
}

TEST_F(ShmListenerTest, EndsConnectionsThatDoNotSayInTimeWhoTheyAre) {
  StartTable();
  const PacketSocket greeted = Greeted();
  // More than a server has room for at once, so that those before must have been forgotten.
  for (int round = 0; round < 12; ++round) {
    std::vector<PacketSocket> silent(100);
    for (PacketSocket& socket : silent) socket = Connect();
    std::string packet;
    for (const PacketSocket& socket : silent) {
      auto outcome = PacketSocket::Outcome::kLater;
      while (outcome == PacketSocket::Outcome::kLater) {  // until it has been accepted
        listener_->CloseSilent(Deadline::Clock::now() + std::chrono::hours(1));
        outcome = socket.Receive(packet, Deadline::After(std::chrono::milliseconds(1)));
      }
      ASSERT_EQ(outcome, PacketSocket::Outcome::kClosed);
    }
  }
  const PacketSocket in_time = Connect();
  listener_->CloseSilent(Deadline::Clock::now());
  EXPECT_TRUE(Exchange(in_time, Hello()).welcome());
  EXPECT_FALSE(Exchange(greeted, Frame({.kind = FrameKind::kPull}, 0, kBytes)).has_refusal());
  ExpectServing();
}

// What is measured is work, not time: the test itself does nothing meanwhile.
TEST_F(ShmListenerTest, IsIdleUntilThereIsADescriptorForAConnection) {
  StartTable();
  const Deadline deadline = Deadline::After(comm_.timeout);
  PacketSocket socket;
  std::string answer;
  {
    const FewDescriptors few(1);
    socket = Connect();
    const std::clock_t before = std::clock();
    EXPECT_EQ(socket.Receive(answer, Deadline::After(std::chrono::milliseconds(500))),
              PacketSocket::Outcome::kLater);
    EXPECT_LT(std::clock() - before, CLOCKS_PER_SEC / 10) << "it tries again and again";
  }
  ASSERT_EQ(socket.Send(Hello().SerializeAsString(), deadline), PacketSocket::Outcome::kDone);
  auto outcome = PacketSocket::Outcome::kLater;
  while (outcome == PacketSocket::Outcome::kLater && !deadline.expired()) {
    listener_->CloseSilent(Deadline::Clock::now());
    outcome = socket.Receive(answer, Deadline::After(std::chrono::milliseconds(10)));
  }
  ASSERT_EQ(outcome, PacketSocket::Outcome::kDone);
  ShmReply reply;
  EXPECT_TRUE(reply.ParseFromString(answer));
  EXPECT_TRUE(reply.welcome());
}

// The sockets' buffers have room for some packets, too.
TEST_F(ShmListenerTest, ServesNoMoreRequestsOfAWorkerThatReadsNoAnswers) {
  constexpr std::size_t kPulls = 6000;
  constexpr std::size_t kInTheKernel = 2000;
  StartTable();
  const PacketSocket lazy = Greeted();
  ASSERT_FALSE(Exchange(lazy, Frame({.step = 0}, kBytes, kBytes)).has_refusal());  // counts pulls
  const auto served = [&, before = table_.counters().bytes_sent] {
    return (table_.counters().bytes_sent - before) / kBytes;
  };
  const Deadline deadline = Deadline::After(comm_.timeout);
  // It leaves no room for the parameters, so threads of the server do not write there together.
  const std::string pull = Frame({.kind = FrameKind::kPull}, 0, 0).SerializeAsString();
  const std::jthread sender([&] {
    for (std::size_t i = 0; i < kPulls; ++i) {
      ASSERT_EQ(lazy.Send(pull, deadline), PacketSocket::Outcome::kDone);
    }
  });
  const std::size_t unread = table_.most_calls_of_a_worker();
  while (served() < unread) std::this_thread::yield();
  std::string answer;
  for (std::size_t read = 1; read <= kPulls; ++read) {
    ASSERT_EQ(lazy.Receive(answer, deadline), PacketSocket::Outcome::kDone);
    ASSERT_LE(served(), read + unread + kInTheKernel);
  }
}

/// Stacks of this size cannot be had, so no thread starts.
TEST_F(ShmListenerTest, IsRefusedWithoutAThread) {
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

}  // namespace
}  // namespace ringside
