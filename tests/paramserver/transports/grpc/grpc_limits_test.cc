// What a server over gRPC takes at most from those who know the token.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/paramserver/transports/grpc/served_test.h"

namespace ringside {
namespace {

constexpr int kWorkers = 2;
constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr std::array<char, 9> kNoSettings{0, 0, 0, 4, 0, 0, 0, 0, 0};  // an empty frame

/// A call that says nothing. Counts how it ends.
class SilentCall : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  struct Ends {
    std::atomic<std::size_t> all = 0, too_many = 0;
  };

  SilentCall(grpc::GenericStub& stub, Ends& ends) : ends_(ends) {
    context_.AddMetadata("ringside-token", kToken);
    stub.PrepareBidiStreamingCall(&context_, Method("Pull"), {}, this);
    StartRead(&reply_);
    handoff_.Pass();
    StartCall();
  }

  void Cancel() { context_.TryCancel(); }
  void OnDone(const grpc::Status& status) override {
    handoff_.Take();
    if (status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED) ++ends_.too_many;
    ++ends_.all;
  }

 private:
  Ends& ends_;
  grpc::ClientContext context_;
  grpc::ByteBuffer reply_;
  TsanHandoff handoff_;
};

class GrpcLimitsTest : public ServedTest {
 protected:
  /// A connection on which gRPC waits for calls.
  FileDescriptor Speaking() const {
    FileDescriptor socket = Connect(kWorkers);
    // The server may have closed it by now.
    static_cast<void>(SendAll(socket.get(), std::as_bytes(std::span(kPreface)), Later()) &&
                      SendAll(socket.get(), std::as_bytes(std::span(kNoSettings)), Later()));
    return socket;
  }

  void ExpectFewConnections() {
    constexpr std::size_t kOwn = 3;  // two of the link, one of the stub
    std::deque<FileDescriptor> connections;
    for (std::size_t i = kOwn; i < MostConnections(kWorkers); ++i) {
      connections.push_back(Speaking());
      EXPECT_FALSE(IsEnded(connections.back())) << i;
    }
    EXPECT_TRUE(IsEnded(Speaking()));
    ExpectStillServing(0);
    connections.pop_back();
    const Deadline deadline = Later();
    while (IsEnded(Speaking())) ASSERT_FALSE(deadline.expired()) << "a free place is not used";
  }
};

TEST_F(GrpcLimitsTest, TakesNoMoreConnectionsThanWorkersCanHave) {
  Serve(kWorkers);
  ExpectFewConnections();
}

TEST_F(GrpcLimitsTest, TakesNoMoreConnectionsOverAUnixDomainSocketEither) {
  Serve(kWorkers, /*started=*/true, "uds");
  ExpectFewConnections();
}

// The calls wait for their requests, so all of them are under way together.
TEST_F(GrpcLimitsTest, TakesNoMoreCallsThanWorkersCanHave) {
  Serve(kWorkers);
  constexpr std::size_t kSlices = 1;
  constexpr std::size_t kMost = kWorkers * (2 * kSlices + 64);
  constexpr std::size_t kTooMany = 50;
  SilentCall::Ends ends;
  std::deque<SilentCall> calls;
  for (std::size_t i = 0; i < kMost + kTooMany; ++i) calls.emplace_back(*stub_, ends);
  while (ends.too_many < kTooMany) std::this_thread::yield();
  EXPECT_EQ(Call("Pull", Frame({.kind = FrameKind::kPull}, {})).status.error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(ends.all, kTooMany);
  for (SilentCall& call : calls) call.Cancel();
  while (ends.all < calls.size()) std::this_thread::yield();
  EXPECT_EQ(ends.too_many, kTooMany);
  const Deadline deadline = Later();
  while (!Call("Pull", Frame({.kind = FrameKind::kPull}, {})).status.ok()) {
    ASSERT_FALSE(deadline.expired()) << "calls that have ended still count";
  }
}

/// The value of a setting (RFC 9113, 6.5.1) in the first frame; 0: it has none.
std::uint32_t SettingOf(std::span<const std::uint8_t> settings, std::uint16_t id) {
  for (; settings.size() >= 6; settings = settings.subspan(6)) {
    if (((settings[0] << 8U) | settings[1]) != id) continue;
    std::uint32_t value = 0;
    for (const std::uint8_t byte : settings.subspan(2, 4)) value = value << 8U | byte;
    return value;
  }
  return 0;
}

TEST_F(GrpcLimitsTest, TellsWorkersHowManyCallsAConnectionMayHave) {
  constexpr std::uint16_t kMaxConcurrentStreams = 3;
  Serve(kWorkers);
  const FileDescriptor socket = Speaking();
  std::array<std::uint8_t, 9> header{};
  ASSERT_TRUE(ReceiveAll(socket.get(), std::as_writable_bytes(std::span(header)), Later()));
  ASSERT_EQ(header[3], 4) << "not SETTINGS";
  const std::size_t bytes =
      std::size_t{header[0]} << 16U | std::size_t{header[1]} << 8U | header[2];
  std::vector<std::uint8_t> settings(bytes);
  ASSERT_TRUE(ReceiveAll(socket.get(), std::as_writable_bytes(std::span(settings)), Later()));
  EXPECT_EQ(SettingOf(settings, kMaxConcurrentStreams), 65'536U);
}

}  // namespace
}  // namespace ringside
