// Tests whole runs that have too few descriptors, threads or too little memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "ringside/experiments/system/processes/process.h"
#include "tests/common/control_group.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// The runtime of a sanitizer lacks memory, threads and descriptors before anything else does.
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

/// How a run ends whose launcher, a shell's child, has this limit.
struct Limit {
  const char* ulimit = nullptr;  ///< For the shell's command of this name.
  int processes = 0;             ///< With threads; 0: no limit.

  bool of_memory() const { return ulimit != nullptr && std::string(ulimit).starts_with("-v"); }
};

void PrintTo(const Limit& limit, std::ostream* out) {
  limit.ulimit != nullptr ? *out << limit.ulimit : *out << limit.processes << " processes";
}

/// A limit and a strategy.
using LimitedRun = std::tuple<Limit, const char*>;

class LimitedRunTest : public ::testing::TestWithParam<LimitedRun> {
 protected:
  void SetUp() override {
    if (limit_.processes == 0) return;
    processes_ = ControlGroup::OfProcesses(limit_.processes);
    if (!processes_) GTEST_SKIP() << "needs root and control groups for processes";
  }

  std::string bundle() const { return directory_.path() + "/bundle"; }

  /// `before`: what the shell does without the limit.
  Process Train(int steps, const std::string& before = "") const {
    const std::string limit =
        processes_ ? processes_->JoinCommand() : std::string("ulimit ") + limit_.ulimit;
    const std::string command = before + limit + "; exec " + RingsideProgram() +
                                " train --strategy " + std::get<1>(GetParam()) + " --workers 2 " +
                                "--model profile:small-tensors --quiet --force --out " + bundle() +
                                " --start-timeout 10 --steps " + std::to_string(steps);
    return Process({.argv = {"/bin/sh", "-c", command}});
  }

  /// A launcher that waited for threads that cannot start took up to minutes. Now it gives up when
  /// the time to start is over.
  static ProcessEnd AwaitEnd(Process& launcher) {
    WaitUntil(
        "the launcher's end", [&] { return launcher.Poll().has_value(); },
        std::chrono::seconds(30));
    return launcher.Poll().value_or(ProcessEnd());
  }

  /// A launcher that ends by itself ends its processes before. If the lack of memory kills it, in a
  /// thread of gRPC, the kernel ends them, which may take longer than the launcher's own end.
  void ExpectNothingLeft(const ProcessEnd& end) const {
    for (const pid_t pid : PidsIn(bundle())) {
      if (end.signal != 0) {
        WaitUntil(
            "the kernel's end of a process group", [pid] { return ProcessesOfGroup(pid).empty(); },
            std::chrono::seconds(5));
      }
      EXPECT_TRUE(ProcessesOfGroup(pid).empty()) << "left of process group " << pid;
    }
  }

  /// The run has succeeded, or it says what it lacks and blames nothing else.
  void ExpectSuccessOrLack(const Process& launcher, const ProcessEnd& end) const {
    if (kIsSanitized || (end.signal == 0 && end.code == 0)) return;
    const bool killed = end.signal == SIGABRT || end.signal == SIGSEGV;
    if (limit_.of_memory() && killed) return;  // before it could say anything
    EXPECT_EQ(end.signal, 0);
    EXPECT_THAT(Reason(launcher),
                ContainsRegex("ulimit -[nuv]|memory ran out|Too many open files"));
  }

  /// The error in the summary. If there is none, what the launcher has written.
  std::string Reason(const Process& launcher) const {
    std::ifstream file(bundle() + "/summary.json");
    const auto summary = nlohmann::json::parse(file, nullptr, false);
    if (summary.is_object()) return summary.at("error").get<std::string>();
    std::string text(16 << 10, '\0');
    const ssize_t count = ::read(launcher.output_fd(), text.data(), text.size());
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return text;
  }

  const Limit limit_ = std::get<0>(GetParam());
  const TemporaryDirectory directory_;
  std::unique_ptr<ControlGroup> processes_;
};

// Threads that cannot be started must not be waited for. Whether the run succeeds depends on how
// far it comes.
TEST_P(LimitedRunTest, EndsAndSaysWhatItLacks) {
  for (int i = 0; i < 2; ++i) {
    Process launcher = Train(20);
    const ProcessEnd end = AwaitEnd(launcher);
    ExpectSuccessOrLack(launcher, end);
    ExpectNothingLeft(end);
    std::filesystem::remove_all(bundle());
  }
}

TEST_P(LimitedRunTest, EndsWhenItIsAskedTo) {
  Process launcher = Train(1'000'000);
  WaitUntil("a step, or the launcher's end",
            [&] { return StepsIn(bundle()) >= 1 || launcher.Poll().has_value(); });
  launcher.Signal(SIGTERM);
  ExpectNothingLeft(AwaitEnd(launcher));
}

/// Whether the main thread writes to its standard error, which blocks.
bool Writes(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/syscall");
  long call = -1;
  std::string fd;
  return file >> call >> fd && call == SYS_write && fd == "0x2";
}

// Nobody reads its result, so it would not end by itself.
TEST_P(LimitedRunTest, EndsAtOnceWhenItIsAskedToAfterItsRun) {
  if (kIsSanitized) {
    GTEST_SKIP() << "a sanitizer that lacks something writes that itself, and waits for a reader";
  }
  if (!std::filesystem::exists("/proc/self/syscall")) {
    GTEST_SKIP() << "the kernel does not say what a process waits for";
  }
  Process launcher = Train(20, "head -c 65536 /dev/zero; ");  // as much as a pipe holds
  bool waits = false;
  WaitUntil("its result, or its end", [&] {
    waits = Writes(launcher.pid());
    return waits || launcher.Poll().has_value();
  });
  launcher.Signal(SIGTERM);
  const ProcessEnd end = AwaitEnd(launcher);
  EXPECT_EQ(end.signal == SIGTERM, waits) << end.Text();
  ExpectNothingLeft(end);
}

/// A limit that no run reaches.
class AmpleMemoryTest : public LimitedRunTest {
 protected:
  /// Why the run failed after one of its workers got this signal.
  std::string ErrorAfter(int signal) const {
    Process launcher = Train(1'000'000);
    WaitUntil("a step, or the launcher's end",
              [&] { return StepsIn(bundle()) >= 1 || launcher.Poll().has_value(); });
    const std::vector<pid_t> pids = PidsIn(bundle());
    if (pids.empty()) throw std::runtime_error("the run has not started");
    ::kill(pids.back(), signal);
    const ProcessEnd end = AwaitEnd(launcher);
    EXPECT_NE(end.code, 0);
    ExpectNothingLeft(end);
    return Reason(launcher);
  }
};

// Nobody can know whether a library lacked memory where it aborts the process or falls silent.
TEST_P(AmpleMemoryTest, IsNamedWhereAWorkerFallsSilent) {
  EXPECT_THAT(ErrorAfter(SIGSTOP), AllOf(ContainsRegex("worker 1 .*no heartbeat for [0-9.]+ s"),
                                         HasSubstr("64000000 KiB of memory each (ulimit -v)")));
}

TEST_P(AmpleMemoryTest, IsNamedWhereAWorkerAborts) {
  EXPECT_THAT(ErrorAfter(SIGABRT), AllOf(ContainsRegex("worker 1 .*by signal 6"),
                                         HasSubstr("64000000 KiB of memory each (ulimit -v)")));
}

std::string NameOf(const ::testing::TestParamInfo<LimitedRun>& run) {
  std::string strategy = std::get<1>(run.param);
  std::erase(strategy, '-');
  return strategy + std::to_string(run.index);
}

constexpr std::array kStrategies{"ring", "ps-sync"};

// ThreadSanitizer and AddressSanitizer reserve more than that.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
INSTANTIATE_TEST_SUITE_P(Memory, AmpleMemoryTest,
                         ::testing::Combine(::testing::Values(Limit{"-v 64000000"}),
                                            ::testing::ValuesIn(kStrategies)),
                         NameOf);
#else
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(AmpleMemoryTest);
#endif

// In KiB: about what the launcher needs, with fewer threads than gRPC wants.
INSTANTIATE_TEST_SUITE_P(Memory, LimitedRunTest,
                         ::testing::Combine(::testing::Values(Limit{"-v 150000"},
                                                              Limit{"-v 200000"},
                                                              Limit{"-v 300000"}),
                                            ::testing::ValuesIn(kStrategies)),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Descriptors, LimitedRunTest,
                         ::testing::Combine(::testing::Values(Limit{"-n 16"}, Limit{"-n 24"},
                                                              Limit{"-n 40"}),
                                            ::testing::ValuesIn(kStrategies)),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Processes, LimitedRunTest,
                         ::testing::Combine(::testing::Values(Limit{.processes = 8},
                                                              Limit{.processes = 20},
                                                              Limit{.processes = 30}),
                                            ::testing::ValuesIn(kStrategies)),
                         NameOf);

}  // namespace
}  // namespace ringside
