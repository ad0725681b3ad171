#include "ringside/experiments/job/coordinator/coordinator.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <future>
#include <string_view>
#include <thread>

#include "ringside/common/base/awake_clock.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/common/security/secrets.h"
#include "ringside/experiments/job/coordinator/coordinator_client.h"
#include "ringside/experiments/job/coordinator/heartbeat.h"
#include "tests/common/few_descriptors.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

Deadline Soon() { return Deadline::After(std::chrono::seconds(20)); }

class CoordinatorTest : public ::testing::Test {
 protected:
  CoordinatorClient MakeClient(const std::string& token) const {
    return CoordinatorClient({.target = coordinator_->target(), .token = token});
  }

  /// On a path, because another process may take a port while nobody listens there.
  void ListenIn(const TemporaryDirectory& directory) {
    coordinator_ = std::make_unique<Coordinator>(
        shared_,
        Coordinator::Options{.socket_path = directory.path() + "/socket", .token = token_});
  }
  /// It waits long for a connection that is made again.
  CoordinatorClient MakePatientClient() const {
    return CoordinatorClient({.target = coordinator_->target(),
                              .token = token_,
                              .reconnect_time = std::chrono::seconds(20)});
  }

  static JobState::JoinRequest Request(Role role, int index) {
    return {.who = {role, index}, .pid = 7, .host = "here", .spec_hash = "spec"};
  }

  const std::string token_ = MakeToken();
  const std::shared_ptr<JobState> shared_ = std::make_shared<JobState>(
      JobState::Options{.workers = 2, .servers = 0, .spec_hash = "spec"});
  JobState& job_state_ = *shared_;
  std::unique_ptr<Coordinator> coordinator_ =
      std::make_unique<Coordinator>(shared_, Coordinator::Options{.token = token_});
};

TEST_F(CoordinatorTest, BindsAFreePortAndSaysWhich) {
  EXPECT_THAT(coordinator_->target(), ::testing::MatchesRegex("127\\.0\\.0\\.1:[1-9][0-9]*"));
  const Coordinator another(shared_, {.token = token_});
  EXPECT_NE(another.target(), coordinator_->target());
}

TEST_F(CoordinatorTest, APortInUseIsRefused) {
  const int port = std::stoi(coordinator_->target().substr(coordinator_->target().find(':') + 1));
  EXPECT_THROW(Coordinator(shared_, {.port = port, .token = token_}), ConfigError);
}

TEST_F(CoordinatorTest, EveryCallNeedsTheToken) {
  job_state_.Set("secret", "value");
  for (const std::string& token : {std::string(), std::string(64, '0'), token_ + "0"}) {
    CoordinatorClient client = MakeClient(token);
    EXPECT_THROW(client.Join(Request(Role::kWorker, 0), Soon()), ConfigError);
    EXPECT_THROW(client.Get("secret", Soon()), ConfigError);
    EXPECT_THROW(client.Set("key", "value"), ConfigError);
    EXPECT_THROW(client.Forget("secret"), ConfigError);
    EXPECT_THROW(client.SendHeartbeat({}, Soon()), ConfigError);
    EXPECT_THROW(client.SubmitReport("{}"), ConfigError);
    EXPECT_THROW(client.SubmitTrace({}, Soon()), ConfigError);
    EXPECT_THROW(client.ReadClock(), ConfigError);
    EXPECT_THROW(client.Fail({FailureKind::kData, ""}), ConfigError);
    EXPECT_THROW(client.ReportChildExit({}, Soon()), ConfigError);
    EXPECT_THROW(client.Leave(), ConfigError);
  }
  EXPECT_FALSE(job_state_.Joined({Role::kWorker, 0}));
  EXPECT_FALSE(job_state_.Value("key"));
  EXPECT_TRUE(job_state_.Value("secret"));
}

/// How a call ends whose caller has no token and sends no request.
grpc::StatusCode EndOfSilentCall(const std::string& target, const std::string& method) {
  grpc::GenericStub stub(grpc::CreateChannel(target, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareCall(&context, method, &queue);
  grpc::Status status;
  call->StartCall(nullptr);
  call->Finish(&status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  for (int events = 0; events < 2; ++events) queue.Next(&tag, &ok);
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  return status.error_code();
}

// So a stranger's requests take no memory.
TEST_F(CoordinatorTest, ACallWithoutTheTokenIsRefusedBeforeItsRequestComes) {
  for (const char* method : {"Set", "Get", "Beat", "SubmitTrace"}) {
    const std::string path = std::string("/ringside.job.CoordinatorService/") + method;
    EXPECT_EQ(EndOfSilentCall(coordinator_->target(), path), grpc::StatusCode::UNAUTHENTICATED);
  }
}

/// Connections that say nothing. Their sockets are there before they connect. So connecting them
/// takes descriptors on the coordinator's side only.
class SilentConnections {
 public:
  SilentConnections(const std::string& target, int count) {
    const std::size_t colon = target.find(':');
    address_.sin_family = AF_INET;
    address_.sin_port = htons(static_cast<std::uint16_t>(std::stoi(target.substr(colon + 1))));
    EXPECT_EQ(inet_pton(AF_INET, target.substr(0, colon).c_str(), &address_.sin_addr), 1);
    for (int i = 0; i < count; ++i) {
      sockets_.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      EXPECT_GE(sockets_.back().get(), 0);
    }
  }

  void Connect() {
    for (const FileDescriptor& socket : sockets_) {
      EXPECT_EQ(
          connect(socket.get(), reinterpret_cast<const sockaddr*>(&address_), sizeof(address_)), 0);
    }
  }
  void SayFromFirst(std::string_view text) const { Say(sockets_.front(), text); }
  void SayFromAll(std::string_view text) const {
    for (const FileDescriptor& socket : sockets_) Say(socket, text);
  }
  void FinishSending() const {
    for (const FileDescriptor& socket : sockets_) EXPECT_EQ(shutdown(socket.get(), SHUT_WR), 0);
  }
  /// Waits until the coordinator has closed the first one.
  void AwaitEndOfFirst() const { EXPECT_TRUE(EndsBy(sockets_.front(), Soon())); }
  /// Returns how many the coordinator closes by then.
  std::ptrdiff_t EndedBy(const Deadline& deadline) const {
    return std::ranges::count_if(
        sockets_, [&](const FileDescriptor& socket) { return EndsBy(socket, deadline); });
  }

 private:
  static void Say(const FileDescriptor& socket, std::string_view text) {
    // It fails if the connection has been closed already.
    static_cast<void>(send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL));
  }

  /// Whether the other end closes by then, whatever it says before.
  static bool EndsBy(const FileDescriptor& socket, const Deadline& deadline) {
    std::array<char, 1024> bytes;
    while (true) {
      pollfd entry{.fd = socket.get(), .events = POLLIN, .revents = 0};
      if (poll(&entry, 1, static_cast<int>(deadline.remaining().count())) != 1) return false;
      // -1: it was closed before it had read all.
      if (recv(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) <= 0) return true;
    }
  }

  sockaddr_in address_{};
  std::vector<FileDescriptor> sockets_;
};

// More connections than the process has descriptors for. gRPC alone would stop listening.
TEST_F(CoordinatorTest, SilentConnectionsKeepNoMemberOut) {
  SilentConnections silent(coordinator_->target(), 400);
  const FewDescriptors few(200);
  silent.Connect();
  silent.AwaitEndOfFirst();
  CoordinatorClient client = MakeClient(token_);
  EXPECT_EQ(client.Join(Request(Role::kWorker, 1), Soon()).index, 1);
}

// What every client of HTTP/2 sends first: the preface, and settings, here without any.
constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr std::string_view kSettings{"\0\0\0\4\0\0\0\0\0", 9};

// gRPC would keep them for as long as they like to stay.
TEST_F(CoordinatorTest, WhoBeginsAsAClientAndThenSaysNothingIsSentAway) {
  const std::array<std::string, 4> starts{"P", std::string(kPreface.substr(0, kPreface.size() - 1)),
                                          std::string(kPreface),
                                          std::string(kPreface) + std::string(kSettings)};
  std::deque<SilentConnections> silent;
  for (const std::string& start : starts) {
    silent.emplace_back(coordinator_->target(), 3);
    silent.back().Connect();
    silent.back().SayFromAll(start);
  }
  const Deadline deadline = Deadline::After(std::chrono::seconds(10));
  for (const SilentConnections& some : silent) EXPECT_EQ(some.EndedBy(deadline), 3);
}

// poll tells of its end again and again. So the door would be busy until the connection's time is
// over.
TEST_F(CoordinatorTest, WhoEndsInTheMiddleOfThePrefaceIsSentAwayAtOnce) {
  SilentConnections silent(coordinator_->target(), 2);
  silent.Connect();
  silent.SayFromAll("PRI");
  silent.FinishSending();
  EXPECT_EQ(silent.EndedBy(Deadline::After(std::chrono::seconds(2))), 2);
}

TEST_F(CoordinatorTest, FewOfThemAreOpenAtATimeAndAMemberComesInWhenTheyHaveLeft) {
  coordinator_ = std::make_unique<Coordinator>(
      shared_, Coordinator::Options{.token = token_, .most_connections = 5});
  SilentConnections silent(coordinator_->target(), 30);
  silent.Connect();
  silent.SayFromAll(std::string(kPreface) + std::string(kSettings));
  EXPECT_EQ(silent.EndedBy(Deadline::After(std::chrono::seconds(2))), 25);
  CoordinatorClient client = MakeClient(token_);
  EXPECT_EQ(client.Join(Request(Role::kWorker, 1), Soon()).index, 1);
}

TEST_F(CoordinatorTest, WhoDoesNotSpeakHttp2IsSentAway) {
  SilentConnections other(coordinator_->target(), 1);
  other.Connect();
  constexpr std::string_view kRequest = "GET / HTTP/1.1\r\n\r\n";
  other.SayFromFirst(kRequest);
  other.AwaitEndOfFirst();
}

TEST_F(CoordinatorTest, ADuplicateRankIsRefusedByName) {
  CoordinatorClient first = MakeClient(token_);
  CoordinatorClient second = MakeClient(token_);
  EXPECT_EQ(first.Join(Request(Role::kWorker, 1), Soon()).index, 1);
  try {
    second.Join(Request(Role::kWorker, 1), Soon());
    FAIL() << "expected a refusal";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("worker 1 has joined already"));
  }
}

// On several hosts all generations of a run have one token. What was sent in an older one, and is
// sent again, must not be taken.
TEST_F(CoordinatorTest, MembersOfEachCoordinatorHaveASecretOfTheirOwn) {
  const auto shared = std::make_shared<JobState>(
      JobState::Options{.workers = 2, .servers = 0, .spec_hash = "spec"});
  const Coordinator next(shared, {.token = token_});
  std::vector<std::string> secrets;
  for (const auto& [target, rank] : std::vector<std::pair<std::string, int>>{
           {coordinator_->target(), 0}, {coordinator_->target(), 1}, {next.target(), 0}}) {
    CoordinatorClient client({.target = target, .token = token_});
    client.Join(Request(Role::kWorker, rank), Soon());
    secrets.push_back(client.members_token());
  }
  EXPECT_EQ(secrets[0], secrets[1]);
  EXPECT_NE(secrets[0], secrets[2]);
  EXPECT_NE(secrets[0], token_);
}

TEST_F(CoordinatorTest, GetWaitsForSet) {
  CoordinatorClient reader = MakeClient(token_);
  CoordinatorClient writer = MakeClient(token_);
  auto value = std::async(std::launch::async, [&] { return reader.Get("key", Soon()); });
  writer.Set("key", std::string("with\0zero", 9));
  EXPECT_EQ(value.get(), std::string("with\0zero", 9));
  EXPECT_THROW(writer.Set("key", "other"), CommError);
}

TEST_F(CoordinatorTest, TheValuesOfAnEarlierExchangeAreForgotten) {
  CoordinatorClient client = MakeClient(token_);
  ExchangeSeries exchanges(client, World{});
  for (const char* name : {"a", "b", "c"}) exchanges.GatherLiving(name, "value", Soon());
  EXPECT_FALSE(job_state_.Value(ExchangeKey("a", 0)));
  EXPECT_FALSE(job_state_.Value(ExchangeKey("b", 0)));
  EXPECT_EQ(job_state_.Value(ExchangeKey("c", 0)), "value");
}

TEST_F(CoordinatorTest, GetNamesTheKeyWhenItIsNotSetInTime) {
  CoordinatorClient client = MakeClient(token_);
  try {
    client.Get("missing", Deadline::After(std::chrono::milliseconds(20)));
    FAIL() << "expected a CommError";
  } catch (const CommError& error) {
    EXPECT_THAT(error.what(), HasSubstr("missing"));
  }
}

// Far more waiting calls than the coordinator could have threads.
TEST_F(CoordinatorTest, WaitingHoldsNoThread) {
  constexpr int kWaiting = 100;
  CoordinatorClient client = MakeClient(token_);
  std::vector<std::future<std::string>> values;
  for (int i = 0; i < kWaiting; ++i) {
    values.push_back(std::async(std::launch::async, [&] { return client.Get("key", Soon()); }));
  }
  client.Set("key", "value");
  for (auto& value : values) EXPECT_EQ(value.get(), "value");
}

// Both ends read one clock here, so that the true offset is 0.
TEST_F(CoordinatorTest, ClocksOfOneMachineCannotBeToldApart) {
  CoordinatorClient client = MakeClient(token_);
  const std::int64_t before = SteadyNanoseconds();
  const ClockReading reading = client.ReadClock();
  EXPECT_LE(std::abs(reading.offset), reading.uncertainty);
  EXPECT_GE(reading.at, before);
  EXPECT_LE(reading.at, SteadyNanoseconds());
  EXPECT_TRUE(ClockCorrection({reading}).shared());
}

TEST_F(CoordinatorTest, DestructionEndsWaitingCalls) {
  CoordinatorClient client = MakeClient(token_);
  client.Set("sent", "before");
  auto value = std::async(std::launch::async, [&] { return client.Get("never", Soon()); });
  coordinator_.reset();
  EXPECT_THROW(value.get(), CommError);
}

TEST_F(CoordinatorTest, ReportsAndFailuresArrive) {
  CoordinatorClient client = MakeClient(token_);
  client.Join(Request(Role::kWorker, 0), Soon());
  const std::string spans(1 << 20, 't');
  client.SubmitTrace({spans, 3, {{1, 2, 3}}}, Soon());
  client.SubmitTrace({spans, 5, {{4, 5, 6}}}, Soon());
  client.SubmitReport(R"({"steps_done":3})");
  client.Fail({FailureKind::kDiverged, "diverged: the loss is nan"});
  client.Leave();
  const TracePiece trace = job_state_.TakeTrace({Role::kWorker, 0});
  EXPECT_EQ(trace.spans, spans + spans);
  EXPECT_EQ(trace.dropped, 5U);
  EXPECT_EQ(trace.readings, (std::vector<ClockReading>{{1, 2, 3}, {4, 5, 6}}));
  EXPECT_EQ(job_state_.Record({Role::kWorker, 0})->report, R"({"steps_done":3})");
  ASSERT_EQ(job_state_.failures().size(), 1);
  EXPECT_EQ(job_state_.failures()[0].Text(), "worker 0: diverged: the loss is nan");
  EXPECT_EQ(job_state_.failures()[0].kind, FailureKind::kDiverged);
}

// A message that is refused as a whole would make an early exit of it, which a restart may mend.
TEST_F(CoordinatorTest, AFailureKeepsItsKindWhateverTheBytesOfItsMessage) {
  constexpr std::size_t kTooMany = 1 << 20;
  CoordinatorClient client = MakeClient(token_);
  client.Join(Request(Role::kWorker, 0), Soon());
  std::string cut_in_a_character("x");
  while (cut_in_a_character.size() < kTooMany) cut_in_a_character.append("ü");
  for (const std::string& message : {std::string("a file \xff"), cut_in_a_character}) {
    client.Fail({FailureKind::kProgram, message, message});
  }
  const std::vector<Failure> failures = job_state_.failures();
  ASSERT_EQ(failures.size(), 2U);
  EXPECT_EQ(failures[0].kind, FailureKind::kProgram);
  EXPECT_EQ(failures[0].message, "a file \xef\xbf\xbd");
  EXPECT_EQ(failures[1].kind, FailureKind::kProgram);
  EXPECT_LT(failures[1].message.size(), kTooMany / 8);
}

TEST_F(CoordinatorTest, AFailureIsToldOnceTheBrokenConnectionIsMadeAgain) {
  const TemporaryDirectory directory;
  ListenIn(directory);
  CoordinatorClient client = MakePatientClient();
  client.Join(Request(Role::kWorker, 0), Soon());
  coordinator_.reset();
  EXPECT_THROW(client.Set("key", "value"), CommError);
  auto told = std::async(std::launch::async, [&] {
    client.Fail({FailureKind::kComm, "setting key failed"});
  });
  EXPECT_EQ(told.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  ListenIn(directory);
  told.get();
  ASSERT_EQ(job_state_.failures().size(), 1);
  EXPECT_EQ(job_state_.failures()[0].Text(), "worker 0: setting key failed");
}

// Its result is there, so a connection that breaks then must not fail the job.
TEST_F(CoordinatorTest, AMemberLeavesOnceTheBrokenConnectionIsMadeAgain) {
  const TemporaryDirectory directory;
  ListenIn(directory);
  CoordinatorClient client = MakePatientClient();
  client.Join(Request(Role::kWorker, 0), Soon());
  coordinator_.reset();
  auto left = std::async(std::launch::async, [&] {
    client.SubmitReport("{}");
    client.Leave();
  });
  EXPECT_EQ(left.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  ListenIn(directory);
  left.get();
  EXPECT_TRUE(job_state_.HasReport({Role::kWorker, 0}));
  EXPECT_TRUE(job_state_.HasLeft({Role::kWorker, 0}));
}

TEST_F(CoordinatorTest, AMemberWhoseCoordinatorHasEndedDoesNotWaitForEver) {
  CoordinatorClient client({.target = coordinator_->target(),
                            .token = token_,
                            .reconnect_time = std::chrono::milliseconds(50)});
  client.Join(Request(Role::kWorker, 0), Soon());
  coordinator_.reset();
  EXPECT_THROW(client.Leave(), CommError);
}

TEST_F(CoordinatorTest, HeartbeatsCarryRowsAndObeyADrain) {
  CoordinatorClient client = MakeClient(token_);
  CoordinatorClient other = MakeClient(token_);
  client.Join(Request(Role::kWorker, 0), Soon());
  other.Join(Request(Role::kWorker, 1), Soon());
  DrainBarrier drain_barrier(0), other_gate(0);
  HeartbeatBuffer buffer, other_buffer;
  const auto ignore = [](const HeartbeatEnd&) {};
  Heartbeat beats(client, drain_barrier, buffer, {.interval = std::chrono::milliseconds(2)},
                  ignore);
  Heartbeat other_beats(other, other_gate, other_buffer, {.interval = std::chrono::milliseconds(2)},
                        ignore);
  other_gate.MayStart(0, Soon());
  other_gate.MayStart(1, Soon());
  job_state_.RequestDrain();
  std::int64_t step = 0;
  while (drain_barrier.MayStart(step, Soon())) {
    buffer.Add(StepRecord{.step = step, .samples = 4});
    ++step;
    // Without a pause, rows would come faster than the coordinator reads them.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_FALSE(other_gate.MayStart(step, Soon()));
  EXPECT_GE(step, 2);
  beats.Finish();
  const Beat rows = job_state_.TakeRows({Role::kWorker, 0});
  ASSERT_EQ(std::ssize(rows.steps), step);
  EXPECT_EQ(rows.steps.back().step, step - 1);
}

TEST_F(CoordinatorTest, AHeartbeatTellsOfAnAbort) {
  CoordinatorClient client = MakeClient(token_);
  client.Join(Request(Role::kWorker, 0), Soon());
  DrainBarrier drain_barrier(0);
  HeartbeatBuffer buffer;
  std::promise<std::string> reason;
  Heartbeat beats(client, drain_barrier, buffer, {.interval = std::chrono::milliseconds(2)},
                  [&reason](const HeartbeatEnd& end) { reason.set_value(end.reason); });
  job_state_.Abort("worker 1 was killed by signal 9");
  EXPECT_EQ(reason.get_future().get(), "worker 1 was killed by signal 9");
  EXPECT_THROW(drain_barrier.MayStart(0, Soon()), CommError);
}

TEST_F(CoordinatorTest, AHeartbeatDoesNotWaitForACoordinatorThatHasEnded) {
  CoordinatorClient client = MakeClient(token_);
  client.Join(Request(Role::kWorker, 0), Soon());
  EXPECT_FALSE(client.HasEnded());
  DrainBarrier drain_barrier(0);
  HeartbeatBuffer buffer;
  std::promise<HeartbeatEnd> ended;
  Heartbeat beats(client, drain_barrier, buffer,
                  {.interval = std::chrono::milliseconds(2), .lease = std::chrono::hours(1)},
                  [&ended](const HeartbeatEnd& end) { ended.set_value(end); });
  coordinator_.reset();
  auto end = ended.get_future();
  ASSERT_EQ(end.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  const HeartbeatEnd seen = end.get();
  EXPECT_TRUE(seen.silent);
  EXPECT_THAT(seen.reason, HasSubstr("(nothing listens at its address any more)"));
}

TEST(SilentCoordinator, EndsAHeartbeatAfterALease) {
  std::promise<void> released;
  std::atomic<bool> holds{false};
  const auto slow = [&holds, release = released.get_future().share()] {
    if (holds) release.wait();
    return AwakeNow();
  };
  const auto job_state = std::make_shared<JobState>(
      JobState::Options{.workers = 1, .spec_hash = "spec", .clock = slow});
  const Coordinator coordinator(job_state, Coordinator::Options{.token = "token"});
  CoordinatorClient client({.target = coordinator.target(), .token = "token"});
  client.Join({.who = {Role::kWorker, 0}, .spec_hash = "spec"}, Soon());
  holds = true;
  DrainBarrier drain_barrier(0);
  HeartbeatBuffer buffer;
  std::promise<HeartbeatEnd> ended;
  Heartbeat beats(
      client, drain_barrier, buffer,
      {.interval = std::chrono::milliseconds(2), .lease = std::chrono::milliseconds(50)},
      [&ended](const HeartbeatEnd& end) { ended.set_value(end); });
  auto end = ended.get_future();
  ASSERT_EQ(end.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  released.set_value();
  const HeartbeatEnd seen = end.get();
  EXPECT_TRUE(seen.silent);
  EXPECT_THAT(seen.reason, HasSubstr("it was silent for "));
  EXPECT_THAT(seen.reason, ::testing::Not(HasSubstr("nothing listens")));
}

// As where gRPC is stuck because a thread is missing.
TEST(CoordinatorEnd, DoesNotWaitForACallThatDoesNotEnd) {
  std::promise<void> entered, released;
  std::atomic<bool> holds{false};
  const auto slow = [&entered, &holds, release = released.get_future().share()] {
    if (holds.exchange(false)) {
      entered.set_value();
      release.wait();
    }
    return AwakeNow();
  };
  const auto job_state = std::make_shared<JobState>(
      JobState::Options{.workers = 1, .spec_hash = "spec", .clock = slow});
  auto coordinator = std::make_unique<Coordinator>(
      job_state,
      Coordinator::Options{.token = "token", .stop_grace = std::chrono::milliseconds(50)});
  CoordinatorClient client({.target = coordinator->target(), .token = "token"});
  client.Join({.who = {Role::kWorker, 0}, .spec_hash = "spec"}, Soon());
  holds = true;
  auto beat = std::async(std::launch::async, [&] {
    try {
      client.SendHeartbeat({}, Soon());
    } catch (const CommError&) {  // NOLINT(bugprone-empty-catch)
      // The coordinator has gone.
    }
  });
  entered.get_future().wait();
  coordinator.reset();
  released.set_value();
  beat.get();
  // gRPC's threads share it no longer.
  WaitUntil("the end of gRPC", [&] { return job_state.use_count() == 1; });
}

}  // namespace
}  // namespace ringside
