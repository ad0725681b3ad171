// Tests a server with raw calls, valid and invalid ones, over loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <random>
#include <ranges>
#include <string>
#include <thread>
#include <vector>

#include "ringside/common/base/errors.h"
#include "tests/paramserver/transports/grpc/served_test.h"

namespace ringside {
namespace {

using grpc::StatusCode;
using ::testing::HasSubstr;

class ServiceTest : public ServedTest {
 protected:
  static std::ptrdiff_t OpenDescriptors() {
    return std::ranges::distance(std::filesystem::directory_iterator("/proc/self/fd"));
  }
};

TEST_F(ServiceTest, APushIsAnsweredWithTheNewParameters) {
  Serve(1);
  const Outcome outcome = Push({.step = 0, .version = 0});
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.error_message();
  EXPECT_EQ(outcome.payload, std::vector<float>(kElements, -1.0F));
  EXPECT_EQ(outcome.header.version, 1);
  EXPECT_EQ(outcome.header.staleness, 0);
}

TEST_F(ServiceTest, EveryCallNeedsTheToken) {
  Serve(1);
  for (const char* method :
       {"Start", "Load", "PushPull", "Pull", "ReadState", "Retire", "NoSuchMethod"}) {
    for (const std::optional<std::string>& token :
         {std::optional<std::string>(), std::optional<std::string>(""),
          std::optional<std::string>("secret of the jo"),
          std::optional<std::string>("secret of the job "),
          std::optional<std::string>("secret of the joc")}) {
      const Outcome outcome = Call(method, Frame({.kind = FrameKind::kPull}, {}), token);
      EXPECT_EQ(outcome.status.error_code(), StatusCode::UNAUTHENTICATED) << method;
    }
  }
  ExpectStillServing(0);
}

TEST_F(ServiceTest, NothingReachesGrpcWithoutTheProofOfTheToken) {
  Serve(1);
  constexpr std::string_view kHttp2 =
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
      "more than a greeting";
  const FileDescriptor stranger(ConnectTcp(endpoint_, Later()));
  EXPECT_TRUE(SendAll(stranger.get(), std::as_bytes(std::span(kHttp2)), Later()));
  EXPECT_TRUE(IsEnded(stranger));
  for (const char* token : {"", "secret of the jo", "secret of the job ", "secret of the joc"}) {
    EXPECT_THROW(Greet(token, 1), CommError) << token;
  }
  ExpectStillServing(0);
}

// The server is in this process, so its descriptors count here. It accepts connections in turn.
TEST_F(ServiceTest, SilentConnectionsLeaveForWorkers) {
  Serve(1);
  constexpr int kSilent = 300;
  constexpr int kMostThatWait = 128;
  constexpr int kOthers = 20;  // of the worker, and of gRPC
  const auto before = OpenDescriptors();
  std::vector<FileDescriptor> silent;
  for (int i = 0; i < kSilent; ++i) silent.emplace_back(ConnectTcp(endpoint_, Later()));
  EXPECT_NO_THROW(Greet(kToken, 1));
  EXPECT_LE(OpenDescriptors() - before, kSilent + kMostThatWait + kOthers);
  ExpectStillServing(0);
}

TEST_F(ServiceTest, RefusesMethodsThatDoNotExist) {
  Serve(1);
  EXPECT_EQ(Call("Format", "").status.error_code(), StatusCode::UNIMPLEMENTED);
  ExpectStillServing(0);
}

TEST_F(ServiceTest, RefusesGarbage) {
  Serve(1);
  std::mt19937 random(5);
  for (const char* method : {"Load", "PushPull", "Pull", "ReadState", "Retire", "Start"}) {
    for (const std::size_t size : {0, 1, 55, 56, 57, 1000, 100'000}) {
      std::string garbage(size, '\0');
      for (char& byte : garbage) byte = static_cast<char>(random());
      const Outcome outcome = Call(method, garbage);
      EXPECT_FALSE(outcome.status.ok()) << method << " took " << size << " bytes of garbage";
    }
  }
  ExpectStillServing(0);
}

TEST_F(ServiceTest, RefusesAMessageAboveItsLimit) {
  comm_.largest_message_bytes = 1 << 20;
  Serve(1);
  const std::string limit(1 << 20, '\0');
  EXPECT_EQ(Call("PushPull", limit).status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Call("PushPull", limit + '\0').status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  ExpectStillServing(0);
}

TEST_F(ServiceTest, RefusesPayloadsOfTheWrongLength) {
  Serve(1);
  for (const std::size_t elements : {0UL, 1UL, kElements - 1, kElements + 1, 1'000'000UL}) {
    const Outcome outcome = Push({}, std::vector<float>(elements));
    EXPECT_EQ(outcome.status.error_code(), StatusCode::INVALID_ARGUMENT) << elements;
  }
  const std::string whole = Frame({}, Ones());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Outcome outcome = Call("PushPull", whole.substr(0, size));
    EXPECT_EQ(outcome.status.error_code(), StatusCode::INVALID_ARGUMENT) << size;
  }
  EXPECT_EQ(Call("Pull", Frame({.kind = FrameKind::kPull}, Ones())).status.error_code(),
            StatusCode::INVALID_ARGUMENT);
  ExpectStillServing(0);
  EXPECT_EQ(server_->counters().copies.assigned,
            kElements * sizeof(float));  // the load and nothing else
}

TEST_F(ServiceTest, RefusesAFrameOfAnotherMethod) {
  Serve(1);
  const Outcome outcome = Call("Pull", Frame({.kind = FrameKind::kPushPull}, Ones()));
  EXPECT_EQ(outcome.status.error_code(), StatusCode::INVALID_ARGUMENT);
  ExpectStillServing(0);
}

TEST_F(ServiceTest, RefusesWorkersSlicesAndPartsThatDoNotExist) {
  Serve(2);
  const std::vector<FrameHeader> wrong{
      {.worker = 2}, {.worker = 0xffffffff}, {.slice = 1}, {.slice = 0xffffffff}};
  for (const FrameHeader& header : wrong) {
    EXPECT_EQ(Push(header).status.error_code(), StatusCode::OUT_OF_RANGE);
  }
  for (const std::uint16_t part : std::initializer_list<std::uint16_t>{0, 1, 0xffff}) {
    const Outcome state =
        Call("ReadState", Frame({.kind = FrameKind::kReadState, .part = part}, {}));
    EXPECT_EQ(state.status.error_code(), StatusCode::OUT_OF_RANGE) << part;
  }
  EXPECT_EQ(Call("Load", Frame({.kind = FrameKind::kLoad, .part = 1}, Ones())).status.error_code(),
            StatusCode::OUT_OF_RANGE);
  ExpectStillServing(0);
}

TEST_F(ServiceTest, RefusesAReplayAndAppliesOnce) {
  Serve(1);
  ASSERT_TRUE(Push({.step = 0, .version = 0}).status.ok());
  for (const auto& [step, version] : std::vector<std::pair<int, int>>{{0, 0}, {0, 1}, {2, 1}}) {
    const Outcome replay = Push({.step = step, .version = version});
    EXPECT_EQ(replay.status.error_code(), StatusCode::FAILED_PRECONDITION);
  }
  ExpectStillServing(-1);
  EXPECT_TRUE(Push({.step = 1, .version = 1}).status.ok());
  ExpectStillServing(-2);
}

TEST_F(ServiceTest, RefusesAPushThatIsRepeatedWhileTheFirstWaits) {
  Serve(2);
  const auto first = Begin(Method("PushPull"), Frame({.worker = 0}, Ones()));
  // The order of two calls on one connection is not promised: one of them is refused, one waits.
  const auto second = Begin(Method("PushPull"), Frame({.worker = 0}, Ones()));
  auto first_status = first->status.get_future(), second_status = second->status.get_future();
  while (first_status.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready &&
         second_status.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
  }
  ASSERT_TRUE(Push({.worker = 1}).status.ok());
  const std::array codes{first_status.get().error_code(), second_status.get().error_code()};
  EXPECT_THAT(codes, ::testing::UnorderedElementsAre(StatusCode::OK, StatusCode::ALREADY_EXISTS));
  ExpectStillServing(-2);
}

TEST_F(ServiceTest, RefusesPushesAndPullsBeforeTheStart) {
  Serve(1, /*started=*/false);
  EXPECT_EQ(Push({}).status.error_code(), StatusCode::FAILED_PRECONDITION);
  link_->Start(plan_);
  EXPECT_EQ(Push({}).status.error_code(), StatusCode::FAILED_PRECONDITION);  // no parameters yet
  EXPECT_EQ(Call("Pull", Frame({.kind = FrameKind::kPull}, {})).status.error_code(),
            StatusCode::FAILED_PRECONDITION);
}

TEST_F(ServiceTest, RefusesASecondStartAndALateLoad) {
  Serve(1);
  EXPECT_THROW(link_->Start(plan_), CommError);
  ASSERT_TRUE(Push({}).status.ok());
  EXPECT_EQ(Call("Load", Frame({.kind = FrameKind::kLoad}, Ones())).status.error_code(),
            StatusCode::ALREADY_EXISTS);
  ExpectStillServing(-1);
}

TEST_F(ServiceTest, OnlyWorkerZeroLoads) {
  Serve(2);
  const Outcome load = Call("Load", Frame({.kind = FrameKind::kLoad, .worker = 1}, Ones()));
  EXPECT_EQ(load.status.error_code(), StatusCode::FAILED_PRECONDITION);
  ExpectStillServing(0);
}

TEST_F(ServiceTest, RefusesAWorkerWithAnotherPlanOrWorld) {
  Serve(2);
  const auto refused = [&](auto change) {
    PlanInfo plan = plan_;
    plan.worker = 1;
    plan.slices.clear();
    change(plan);
    try {
      link_->Start(plan);
    } catch (const CommError&) {
      return true;
    }
    return false;
  };
  EXPECT_TRUE(refused([](PlanInfo& plan) { plan.fingerprint = 98; }));
  EXPECT_TRUE(refused([](PlanInfo& plan) { plan.step = 1; }));
  EXPECT_TRUE(refused([](PlanInfo& plan) { plan.worker = 2; }));
  EXPECT_TRUE(refused([](PlanInfo& plan) { plan.workers = 3; }));
  EXPECT_TRUE(refused([](PlanInfo& plan) { plan.server = 1; }));
  EXPECT_TRUE(refused([](PlanInfo& plan) { plan.servers = 2; }));
  EXPECT_FALSE(refused([](PlanInfo&) {}));
  ExpectStillServing(0);
}

TEST_F(ServiceTest, AMissingWorkerFailsTheWaitingPushesByName) {
  comm_.timeout = std::chrono::milliseconds(100);
  Serve(3);
  const Outcome outcome = Push({.worker = 1});
  EXPECT_EQ(outcome.status.error_code(), StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(outcome.status.error_details(), "workers 0, 2");
  EXPECT_THAT(outcome.status.error_message(), HasSubstr("workers 0, 2"));
  const Outcome late = Push({.worker = 0});
  EXPECT_EQ(late.status.error_message(), outcome.status.error_message());
}

TEST_F(ServiceTest, AWorkerThatLeavesWhileItsPushWaitsFailsTheOthersByName) {
  Serve(3);
  const auto gone = Begin(Method("PushPull"), Frame({.worker = 1}, Ones()));
  while (server_->counters().waiting == 0) std::this_thread::yield();
  const auto other = Begin(Method("PushPull"), Frame({.worker = 0}, Ones()));
  while (server_->counters().waiting == 1) std::this_thread::yield();
  gone->context.TryCancel();
  const Outcome outcome = End(*other);
  EXPECT_EQ(outcome.status.error_code(), StatusCode::ABORTED);
  EXPECT_EQ(outcome.status.error_details(), "worker 1");
  EXPECT_EQ(End(*gone).status.error_code(), StatusCode::CANCELLED);
}

TEST_F(ServiceTest, StoppingEndsWaitingPushesWithTheServersName) {
  Serve(2);
  const auto waiting = Begin(Method("PushPull"), Frame({.worker = 0}, Ones()));
  while (server_->counters().waiting == 0) std::this_thread::yield();
  server_->Stop();
  const Outcome outcome = End(*waiting);
  EXPECT_EQ(outcome.status.error_code(), StatusCode::ABORTED);
  EXPECT_THAT(outcome.status.error_message(), HasSubstr("server 0"));
  server_->Stop();  // idempotent
}

}  // namespace
}  // namespace ringside
