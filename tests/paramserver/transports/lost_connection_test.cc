// Tests that every push counts once, although connections are cut at any moment, and that a call
// says why its connection is lost for good.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ringside/common/base/file_descriptor.h"
#include "ringside/common/sockets/tcp_socket.h"
#include "ringside/paramserver/server/consistency.h"
#include "ringside/paramserver/strategies/ps_server.h"
#include "ringside/paramserver/transports/core/server_link.h"
#include "ringside/paramserver/transports/transport_table.h"
#include "tests/paramserver/ps_cluster.h"

namespace ringside {
namespace {

constexpr std::chrono::seconds kPatience{30};

/// Passes connections on to a server, and cuts them when it is told to.
class Relay {
 public:
  explicit Relay(std::string target) : target_(std::move(target)) {
    accepter_ = std::thread([this] { Accept(); });
  }
  ~Relay() {
    StopListening();
    Cut();
    for (std::thread& pump : pumps_) pump.join();
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  std::string endpoint() const { return TcpEndpointOf(listener_.get()); }

  /// New connections are refused.
  void StopListening() {
    if (!accepter_.joinable()) return;
    EXPECT_EQ(shutdown(listener_.get(), SHUT_RDWR), 0);
    accepter_.join();
  }

  /// Whatever is on its way is lost.
  void Cut() {
    ForEachOpen([](Passage& passage) { passage.Cut(); });
  }

  /// Of each later connection only so many bytes of the worker pass. Then it is cut.
  void CutLaterOnesAfter(std::size_t bytes) { passing_ = bytes; }
  /// The same for the next connection only.
  void CutNextOneAfter(std::size_t bytes) { passing_next_ = bytes; }

  /// What workers send is not read any more.
  void StopReading() {
    ForEachOpen([](Passage& passage) { passage.unread = true; });
  }
  /// Waits until workers have sent all that the kernel takes while nobody reads.
  void AwaitFull() {
    const Deadline deadline = Deadline::After(kPatience);
    std::size_t before = 0;
    std::size_t now = 0;
    do {
      ASSERT_FALSE(deadline.expired()) << now << " bytes wait";
      before = now;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      now = Unread();
    } while (now == 0 || now != before);
  }
  /// Workers are told that nothing more will come, but can send on.
  void HalfClose() {
    ForEachOpen([](Passage& passage) { EXPECT_EQ(shutdown(passage.worker.get(), SHUT_WR), 0); });
  }

 private:
  /// Its sockets are closed when no pump uses them any more.
  struct Passage {
    /// As when a machine on the way has forgotten the connection.
    void Cut() {
      Reset(worker);
      Reset(server);
      unread = false;
      unread.notify_all();
    }
    static void Reset(const FileDescriptor& socket) {
      const sockaddr nowhere{.sa_family = AF_UNSPEC, .sa_data = {}};
      // It fails only where the connection has ended already.
      [[maybe_unused]] const int failed = connect(socket.get(), &nowhere, sizeof(nowhere));
      shutdown(socket.get(), SHUT_RDWR);  // ends a wait of a pump
    }

    FileDescriptor worker, server;
    std::size_t passing = 0;  // bytes that the worker may send
    std::atomic<bool> unread = false;
  };

  /// The bytes of workers that wait in the kernel.
  std::size_t Unread() {
    std::size_t all = 0;
    ForEachOpen([&](const Passage& passage) {
      int bytes = 0;
      ASSERT_EQ(ioctl(passage.worker.get(), FIONREAD, &bytes), 0);
      all += static_cast<std::size_t>(bytes);
    });
    return all;
  }

  template <typename Action>
  void ForEachOpen(const Action& action) {
    const std::lock_guard lock(mutex_);
    for (const std::weak_ptr<Passage>& passage : passages_) {
      if (const auto open = passage.lock()) action(*open);
    }
  }

  void Accept() {
    pollfd waiting{.fd = listener_.get(), .events = POLLIN, .revents = 0};
    while (poll(&waiting, 1, -1) > 0) {
      FileDescriptor worker(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (worker.get() < 0) return;  // it no longer listens
      FileDescriptor server(ConnectTcp(target_, Deadline::After(kPatience)));
      SetBlocking(server.get());
      const auto passage = std::make_shared<Passage>();
      passage->worker = std::move(worker);
      passage->server = std::move(server);
      passage->passing = std::min(passing_.load(), passing_next_.exchange(kAllBytes));
      const std::lock_guard lock(mutex_);
      passages_.push_back(passage);
      pumps_.emplace_back([passage] { PassOn(*passage); });
      pumps_.emplace_back([passage] {
        Pump(passage->server, passage->worker, [](std::size_t) { return true; });
        passage->Cut();
      });
    }
  }

  /// What the worker sends.
  static void PassOn(Passage& passage) {
    std::size_t passed = 0;
    Pump(passage.worker, passage.server, [&](std::size_t bytes) {
      passage.unread.wait(true);
      passed += bytes;
      return passed <= passage.passing;
    });
    passage.Cut();
  }

  /// Ends with the connection, or when `may_pass` says so of the bytes that have come.
  template <typename MayPass>
  static void Pump(const FileDescriptor& from, const FileDescriptor& to, const MayPass& may_pass) {
    std::array<std::byte, 65536> bytes{};
    ssize_t came = 0;
    while ((came = recv(from.get(), bytes.data(), bytes.size(), 0)) > 0) {
      const auto piece = std::span(bytes).first(static_cast<std::size_t>(came));
      if (!may_pass(piece.size())) break;
      if (!SendAll(to.get(), piece, Deadline::After(kPatience))) break;
    }
  }

  const std::string target_;
  const FileDescriptor listener_ = ListenOnTcp("127.0.0.1");
  static constexpr std::size_t kAllBytes = std::numeric_limits<std::size_t>::max();
  std::atomic<std::size_t> passing_ = kAllBytes;
  std::atomic<std::size_t> passing_next_ = kAllBytes;
  std::mutex mutex_;
  std::vector<std::weak_ptr<Passage>> passages_;  // guarded by mutex_
  std::vector<std::thread> pumps_;                // of the accepter, then of the destructor
  std::thread accepter_;
};

class AwaitedCall : public CallObserver {
 public:
  void Sent(std::size_t) override {
    Note([this] { ++sent_; });
  }
  void Received(const FrameHeader& header, const CopyCount&) override {
    Note([&] { reply_ = header; });
  }
  void Failed(const CommError& error) override {
    Note([&] { failure_ = error.what(); });
  }

  int sent() {
    const std::lock_guard lock(mutex_);
    return sent_;
  }
  /// The reply; nothing after a failure.
  std::optional<FrameHeader> Await() {
    const std::string failure = Failure();
    EXPECT_EQ(failure, "");
    const std::lock_guard lock(mutex_);
    return reply_;
  }
  /// Why it failed; empty after a reply.
  std::string Failure() {
    std::unique_lock lock(mutex_);
    const auto told = [this] { return sent_ > 0 && (reply_ || !failure_.empty()); };
    EXPECT_TRUE(changed_.wait_for(lock, kPatience, told))
        << "sent " << sent_ << " times, " << (reply_ ? "" : "not ") << "answered";
    return failure_;
  }

 private:
  template <typename Change>
  void Note(const Change& change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int sent_ = 0;
  std::optional<FrameHeader> reply_;
  std::string failure_;
};

/// Synchronous. Keeps what it is told of pushes.
class KeepingPushes : public Consistency {
 public:
  explicit KeepingPushes(std::vector<PushInfo>& kept) : kept_(kept) {}
  std::int64_t Start(std::int64_t step) override { return synchronous_->Start(step); }
  PushDecision OnPush(const PushInfo& push, std::int64_t version) override {
    kept_.push_back(push);
    return synchronous_->OnPush(push, version);
  }
  std::vector<int> Missing() const override { return synchronous_->Missing(); }

 private:
  std::vector<PushInfo>& kept_;
  const Schedule schedule_{{.base = 1.0}};
  const std::unique_ptr<Consistency> synchronous_ = MakeSynchronous(1, schedule_);
};

class LostConnectionTest : public ::testing::TestWithParam<std::string> {
 protected:
  explicit LostConnectionTest(std::size_t elements = 250'000) : elements_(elements) {}

  void SetUp() override {
    link_->Start({.workers = 1,
                  .servers = 1,
                  .fingerprint = 1,
                  .slices = {{.elements = elements_, .leads = true}}});
    AwaitedCall& load = calls_.emplace_back();
    link_->Call({.kind = FrameKind::kLoad, .payload_bytes = space_.params().size_bytes()},
                {.out = space_.params(), .out_vector = FlatVector::kParams}, load);
    ASSERT_TRUE(load.Await());
    std::ranges::fill(space_.grads(), 1.0F);
  }

  AwaitedCall& Push(int step) {
    AwaitedCall& push = calls_.emplace_back();
    link_->Call({.step = step, .version = step, .payload_bytes = space_.grads().size_bytes()},
                {.out = space_.grads(),
                 .in = space_.params(),
                 .out_vector = FlatVector::kGrads,
                 .in_vector = FlatVector::kParams},
                push);
    return push;
  }

  void ExpectApplied(AwaitedCall& push, int steps) {
    const std::optional<FrameHeader> reply = push.Await();
    ASSERT_TRUE(reply);
    ASSERT_EQ(reply->version, steps);
    for (const float value : space_.params()) ASSERT_EQ(value, -static_cast<float>(steps));
  }

  static StrategyEntry WithServers(
      std::function<std::unique_ptr<Server>(const ServerContext&)> make) {
    StrategyEntry entry = kPsSyncEntry;
    entry.make_server = std::move(make);
    return entry;
  }

  static StrategyOptions Options() {
    StrategyOptions options;
    options.Set(kPsTransport, GetParam());
    return options;
  }

  const TransportTable transports_;
  const std::size_t elements_;
  std::vector<PushInfo> pushes_;  // those that the server has taken
  const StrategyEntry entry_ = WithServers([this](const ServerContext& context) {
    return std::make_unique<PsServer>(context, transports_.Named(GetParam()),
                                      [this] { return std::make_unique<KeepingPushes>(pushes_); });
  });
  PsCluster cluster_{
      {.entry = &entry_, .workers = 1, .elements = elements_, .strategy = Options()}};
  Relay relay_{cluster_.endpoint(0)};
  FlatSpace space_{elements_};
  std::deque<AwaitedCall> calls_;  // they outlive the link
  std::unique_ptr<ServerLink> link_ =
      transports_.Connect(0, {&transports_.Named(GetParam()), relay_.endpoint()},
                          {.connections = 1}, space_, cluster_.comm());
};

TEST_P(LostConnectionTest, EveryPushCountsOnce) {
  constexpr int kSteps = 40;
  for (int step = 0; step < kSteps; ++step) {
    AwaitedCall& push = Push(step);
    std::this_thread::sleep_for(std::chrono::microseconds(100 * step));
    relay_.Cut();
    ASSERT_NO_FATAL_FAILURE(ExpectApplied(push, step + 1));
  }
  EXPECT_GT(link_->reconnects(), 0);
  link_.reset();
  for (AwaitedCall& call : calls_) EXPECT_EQ(call.sent(), 1);
}

TEST_P(LostConnectionTest, TheErrorSaysWhyNoNewConnectionCouldBeMade) {
  relay_.StopListening();
  relay_.Cut();
  for (int step = 0; step < 2; ++step) {
    EXPECT_THAT(Push(step).Failure(),
                ::testing::ContainsRegex("no new (one|connection) could be made: .*refused"));
  }
  EXPECT_EQ(link_->reconnects(), 0);
}

TEST_P(LostConnectionTest, TheErrorSaysThatNewConnectionsWereLostToo) {
  relay_.CutLaterOnesAfter(elements_);  // a quarter of a push
  relay_.Cut();
  for (int step = 0; step < 2; ++step) {
    EXPECT_THAT(
        Push(step).Failure(),
        ::testing::HasSubstr("and 3 new connections in turn were lost before an answer came"));
  }
  EXPECT_EQ(link_->reconnects(), kReconnectsInVain);
}

INSTANTIATE_TEST_SUITE_P(OverNetworks, LostConnectionTest, ::testing::Values("tcp", "grpc"));

/// A push is longer than what the kernel takes while nobody reads.
class LongPushTest : public LostConnectionTest {
 protected:
  LongPushTest() : LostConnectionTest(8'000'000) {}
};

TEST_P(LongPushTest, AConnectionThatTheOtherSideEndsWithoutReadingIsMadeAgain) {
  relay_.StopReading();
  AwaitedCall& push = Push(0);
  ASSERT_NO_FATAL_FAILURE(relay_.AwaitFull());
  relay_.HalfClose();
  ASSERT_NO_FATAL_FAILURE(ExpectApplied(push, 1));
  EXPECT_EQ(link_->reconnects(), 1);
}

TEST_P(LongPushTest, EachRepeatSaysHowManyThereWereBefore) {
  relay_.StopReading();
  AwaitedCall& push = Push(0);
  ASSERT_NO_FATAL_FAILURE(relay_.AwaitFull());
  relay_.CutNextOneAfter(elements_);  // a quarter of a push
  relay_.Cut();
  ASSERT_NO_FATAL_FAILURE(ExpectApplied(push, 1));
  EXPECT_EQ(link_->reconnects(), 2);
  ASSERT_EQ(pushes_.size(), 1U) << "no other one arrived whole";
  EXPECT_EQ(pushes_[0].repeats, 2);
}

INSTANTIATE_TEST_SUITE_P(OverNetworks, LongPushTest, ::testing::Values("tcp", "grpc"));

}  // namespace
}  // namespace ringside
