// A server in a process of its own that is really frozen or killed. Its processes are forked before
// gRPC is touched, so each test must run in a process of its own too, as CTest does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/paramserver/transports/transport_table.h"
#include "tests/paramserver/ps_cluster.h"

namespace ringside {
namespace {

/// Tells the parent what the server publishes; all other calls are the parent's.
class PipeStore : public Store {
 public:
  explicit PipeStore(int out) : out_(out) {}
  void Set(std::string_view, std::string_view value) override {
    if (write(out_, value.data(), value.size()) < 0) throw InternalError("the pipe is broken");
    close(out_);
  }
  std::string Get(std::string_view key, const Deadline&) override {
    throw InternalError("a server asked for " + std::string(key));
  }

 private:
  int out_;
};

class ServerProcess {
 public:
  ServerProcess(const CommOptions& comm, const Schedule& schedule, int workers,
                const StrategyOptions& options) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw InternalError("no pipe");
    process_ = fork();
    if (process_ == 0) {
      close(ends[0]);
      Serve(comm, schedule, workers, options, ends[1]);
    }
    close(ends[1]);
    std::array<char, 256> text{};
    const auto size = read(ends[0], text.data(), text.size());
    endpoint_.assign(text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    close(ends[0]);
  }
  ~ServerProcess() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }

  const std::string& endpoint() const { return endpoint_; }
  void Kill() const { kill(process_, SIGKILL); }
  /// Returns when all its threads have stopped; the signal alone lets them go on for a moment.
  void Freeze() const {
    int status = 0;
    kill(process_, SIGSTOP);
    if (waitpid(process_, &status, WUNTRACED) != process_ || !WIFSTOPPED(status)) {
      throw InternalError("the server has not stopped");
    }
  }

 private:
  [[noreturn]] static void Serve(const CommOptions& comm, const Schedule& schedule, int workers,
                                 const StrategyOptions& options, int out) {
    PipeStore store(out);
    Timeline timeline;
    const OptimizerOptions sgd;
    const auto server = kPsSyncEntry.make_server({.index = 0,
                                                  .servers = 1,
                                                  .workers = workers,
                                                  .store = store,
                                                  .comm = comm,
                                                  .optimizer = sgd,
                                                  .schedule = schedule,
                                                  .timeline = timeline,
                                                  .options = options});
    while (true) pause();
  }

  pid_t process_ = -1;
  std::string endpoint_;
};

/// One worker of that server, with 32 MiB of parameters: more than sockets hold.
class ProcessTest : public ::testing::TestWithParam<std::string> {
 protected:
  ProcessTest()
      : schedule_({.base = 1.0}),
        comm_{.token = "t", .timeout = std::chrono::milliseconds(1500)},
        server_(comm_, schedule_, 1, Options()),
        worker_(TestWorld(0, 1, 1), Plan(), {}) {
    store_.Set("ps/0", server_.endpoint());
    worker_.strategy = kPsSyncEntry.make({.world = worker_.world,
                                          .store = store_,
                                          .comm = comm_,
                                          .optimizer = *worker_.optimizer,
                                          .schedule = schedule_,
                                          .recorder = worker_.recorder,
                                          .timeline = worker_.timeline,
                                          .options = Options()});
  }

  static StrategyOptions Options() {
    StrategyOptions options;
    options.Set(kPsTransport, GetParam());
    return options;
  }

  static BucketPlan Plan() {
    const std::vector<TensorSpec> tensors{{"all", std::size_t{8} << 20}};
    return {tensors, {}};
  }

  std::string ServerName() const {
    return "server 0 " + TransportTable().ParseAddress(server_.endpoint()).DisplayText();
  }

  void ExpectFailureThatNamesTheServer(int step) {
    try {
      worker_.Step(step);
      FAIL() << "the step went through";
    } catch (const CommError& error) {
      EXPECT_EQ(error.peer(), ServerName()) << error.what();
    }
  }

  const Schedule schedule_;
  const CommOptions comm_;
  InProcessStore store_;
  ServerProcess server_;
  TestWorker worker_;
};

TEST_P(ProcessTest, AKilledServerIsNamed) {
  worker_.strategy->Start(worker_.space, worker_.plan, {});
  worker_.Step(0);
  for (int bucket = 0; bucket < worker_.plan.buckets(); ++bucket) worker_.Submit(bucket, 1);
  server_.Kill();
  try {
    for (int step = 1;; ++step) {
      for (int bucket = 0; bucket < worker_.plan.buckets(); ++bucket) worker_.Await(bucket, step);
      for (int bucket = 0; bucket < worker_.plan.buckets(); ++bucket) {
        worker_.Submit(bucket, step + 1);
      }
    }
  } catch (const CommError& error) {
    EXPECT_EQ(error.peer(), ServerName()) << error.what();
  }
}

/// Gradients that the kernel has not taken lie in the transport: the strategy must get them back
/// before it goes, or the memory behind them is read after it is gone.
TEST_P(ProcessTest, AFrozenServerIsNamedAndLeavesNoPayloadBehind) {
  worker_.strategy->Start(worker_.space, worker_.plan, {});
  worker_.Step(0);
  server_.Freeze();
  ExpectFailureThatNamesTheServer(1);
  worker_.strategy.reset();
}

INSTANTIATE_TEST_SUITE_P(All, ProcessTest, ::testing::Values("grpc", "tcp", "uds", "shm"));

}  // namespace
}  // namespace ringside
