// Tests whole runs whose programs write without end, and runs whose output nobody reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "ringside/experiments/system/processes/process.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

class RunOutputTest : public ::testing::Test {
 protected:
  std::string bundle() const { return directory_.path() + "/bundle"; }

  /// Runs the flags in a shell that first does `before`.
  Process Train(const std::string& before, const std::string& flags) const {
    return Process(
        {.argv = {"/bin/sh", "-c",
                  before + "exec " + RingsideProgram() +
                      " train --strategy ring --workers 2 --out " + bundle() + " " + flags}});
  }

  static ProcessEnd AwaitEnd(Process& launcher) {
    WaitUntil("the launcher's end", [&] { return launcher.Poll().has_value(); });
    return launcher.Poll().value_or(ProcessEnd());
  }

  void ExpectNothingLeft() const {
    const std::vector<pid_t> pids = PidsIn(bundle());
    EXPECT_EQ(pids.size(), 2U);
    for (const pid_t pid : pids) EXPECT_TRUE(ProcessesOfGroup(pid).empty()) << pid;
  }

  const TemporaryDirectory directory_;
};

/// `yes` writes faster than the launcher reads.
class FloodedRunTest : public RunOutputTest {
 protected:
  Process Flood(const std::string& flags) const {
    return Train("", flags + " -- sh -c 'exec yes >&2' 2>/dev/null");
  }
};

TEST_F(FloodedRunTest, EndsAtItsTimeLimit) {
  Process launcher = Flood("--time-limit 3s");
  EXPECT_EQ(AwaitEnd(launcher).code, 124);
  ExpectNothingLeft();
}

TEST_F(FloodedRunTest, EndsWhenItIsAskedTo) {
  Process launcher = Flood("");
  WaitUntil("output of a worker", [this] {
    std::error_code not_there_yet;
    const auto bytes = std::filesystem::file_size(bundle() + "/logs/worker-1.log", not_there_yet);
    return !not_there_yet && bytes > 0;
  });
  launcher.Signal(SIGTERM);
  EXPECT_EQ(AwaitEnd(launcher).code, 130);
  ExpectNothingLeft();
}

/// Its standard error is a full pipe.
class UnreadRunTest : public RunOutputTest {
 protected:
  UnreadRunTest()
      : launcher_(Train("head -c 65536 /dev/zero; ",
                        "--model profile:mobilenet-v2 --compute-ms 20 --steps 100000")) {
    WaitUntil("some steps", [this] { return StepsIn(bundle()) >= 3; });
  }

  std::string ReadOutput() const {
    std::string text;
    std::array<char, 4096> buffer;
    while (true) {
      pollfd ready{launcher_.output_fd(), POLLIN, 0};
      ::poll(&ready, 1, 20'000);
      const ssize_t count = ::read(launcher_.output_fd(), buffer.data(), buffer.size());
      if (count <= 0) return text;
      text.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }

  Process launcher_;
};

TEST_F(UnreadRunTest, EndsWhenItIsAskedTo) {
  launcher_.Signal(SIGTERM);
  EXPECT_EQ(AwaitEnd(launcher_).code, 130);
  ExpectNothingLeft();
}

// Only the launcher waits then, with the result.
TEST_F(UnreadRunTest, EndsAfterTheDeathOfAWorkerAndKeepsItsResult) {
  ::kill(PidIn(bundle(), "worker 0"), SIGKILL);
  WaitUntil("the summary", [this] { return std::filesystem::exists(bundle() + "/summary.json"); });
  ExpectNothingLeft();
  EXPECT_THAT(ReadOutput(), ::testing::HasSubstr("failed: worker 0"));
  EXPECT_EQ(AwaitEnd(launcher_).code, 1);
}

}  // namespace
}  // namespace ringside
