// Tests whole runs whose results and messages lie on a disk that no longer answers: the kernel
// holds every write until the file system is thawed.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "ringside/common/base/file_descriptor.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/output/console.h"
#include "ringside/experiments/system/processes/process.h"
#include "tests/common/shell_command.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

/// A file system of its own, in a file.
class OwnDisk {
 public:
  OwnDisk() {
    const std::string image = directory_.Path("image");
    std::filesystem::create_directory(path());
    outcome_ = RunShell("truncate -s 64M " + image + " && mkfs.ext4 -q " + image +
                        " && mount -o loop " + image + " " + path());
  }
  ~OwnDisk() {
    if (!mounted()) return;
    Thaw();
    EXPECT_EQ(RunShell("umount " + path()).exit_code, 0);
  }
  OwnDisk(const OwnDisk&) = delete;
  OwnDisk& operator=(const OwnDisk&) = delete;

  bool mounted() const { return outcome_.exit_code == 0; }
  const std::string& why_not() const { return outcome_.output; }
  std::string path() const { return directory_.Path("disk"); }

  void Freeze() {
    ASSERT_EQ(Control(FIFREEZE), 0);
    frozen_ = true;
  }
  void Thaw() {
    if (!frozen_) return;
    EXPECT_EQ(Control(FITHAW), 0);
    frozen_ = false;
  }

 private:
  int Control(unsigned long request) const {
    const FileDescriptor root(::open(path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return ::ioctl(root.get(), request, 0);
  }

  const TemporaryDirectory directory_;
  ShellOutcome outcome_;
  bool frozen_ = false;
};

/// Whether a thread of the process waits and no signal can wake it, as for a disk.
bool WaitsForADisk(pid_t pid) {
  const std::filesystem::path tasks = "/proc/" + std::to_string(pid) + "/task";
  const std::filesystem::directory_iterator all(tasks);
  return std::ranges::any_of(all, [](const auto& task) {
    std::ifstream file(task.path() / "stat");
    std::string line;
    std::getline(file, line);
    const std::size_t name_end = line.rfind(')');
    return name_end != std::string::npos && line.substr(name_end + 1).starts_with(" D");
  });
}

constexpr const char* kEndless = " --steps 100000000";

/// The process of this name that has this variable in its environment. Throws if there is none: a
/// test that signals -1 would end every process.
pid_t ProcessOf(const std::string& name, const std::string& variable) {
  std::istringstream pids(RunShell("pgrep -x '" + name + "'").output);
  for (std::string pid; pids >> pid;) {
    const std::string grep = "grep -qzxF '" + variable + "' /proc/" + pid + "/environ";
    if (RunShell(grep).exit_code == 0) return std::stoi(pid);
  }
  throw std::runtime_error("no process is called " + name);
}

class FrozenDiskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can mount a file system";
    if (!disk_.mounted()) GTEST_SKIP() << "no file system can be mounted: " << disk_.why_not();
  }

  std::string bundle() const { return disk_.path() + "/run"; }
  /// A variable that all processes of the job have.
  std::string mark() const { return "RINGSIDE_FROZEN_DISK_TEST=" + disk_.path(); }

  /// A run whose launcher already waits for the frozen disk.
  Process TrainUntilItWaits(const std::string& flags) {
    const std::string command = "exec env " + mark() + " " + RingsideProgram() +
                                " train --strategy " + flags +
                                " --workers 2 --model profile:small-tensors --compute-ms 1 " +
                                "--out " + bundle() + " 2> " + disk_.path() + "/messages";
    Process launcher({.argv = {"/bin/sh", "-c", command}});
    WaitUntil(
        "the first steps", [&] { return CommonStepsIn(bundle()) > 0; }, std::chrono::seconds(30));
    workers_ = {ProcessOf("worker 0", mark()), ProcessOf("worker 1", mark())};
    disk_.Freeze();
    WaitUntil(
        "a write", [&] { return WaitsForADisk(launcher.pid()); }, std::chrono::seconds(10));
    return launcher;
  }

  void ExpectMembersEnd() const {
    WaitUntil(
        "the end of the workers", [&] { return std::ranges::none_of(workers_, IsAlive); },
        std::chrono::seconds(20));
  }

  /// The end of the launcher, once the disk answers again.
  nlohmann::json SummaryAfterThaw(Process& launcher, int code) {
    disk_.Thaw();
    WaitUntil("the launcher's end", [&] { return launcher.Poll().has_value(); });
    EXPECT_EQ(launcher.Poll().value_or(ProcessEnd()).code, code);
    std::ifstream file(bundle() + "/summary.json");
    return nlohmann::json::parse(file);
  }

  OwnDisk disk_;
  std::vector<pid_t> workers_;
};

TEST_F(FrozenDiskTest, AnInterruptedRunStops) {
  Process launcher = TrainUntilItWaits("ring" + std::string(kEndless));
  ASSERT_EQ(::kill(launcher.pid(), SIGINT), 0);
  EXPECT_NO_THROW(ExpectMembersEnd());
  EXPECT_EQ(SummaryAfterThaw(launcher, 130)["status"], "interrupted");
}

TEST_F(FrozenDiskTest, AConsoleThatIsAFileThereHoldsNobodyUp) {
  const std::string path = disk_.path() + "/messages";
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  Console console({.show_progress = false, .fd = file.get()});
  console.Print("before");
  disk_.Freeze();
  const auto printed = std::async(std::launch::async, [&] {
    for (int i = 0; i < 3; ++i) console.Print("while it is frozen");
  });
  EXPECT_EQ(printed.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  disk_.Thaw();
  printed.wait();
  WaitUntil("the last line",
            [&] { return ReadFile(path, 1000) == "before\nwhile it is frozen\n"; });
  console.Print("after");
  EXPECT_THAT(ReadFile(path, 1000), AllOf(HasSubstr("a part is left out"), EndsWith("after\n")));
}

// The workers have done all their steps, and only the last rows are missing.
TEST_F(FrozenDiskTest, ARunThatWaitsForItsLastRowsKeepsItsTimeLimit) {
  const auto begin = std::chrono::steady_clock::now();
  Process launcher = TrainUntilItWaits("none --steps 1000 --time-limit 10s");
  EXPECT_NO_THROW(ExpectMembersEnd());
  std::this_thread::sleep_until(begin + std::chrono::seconds(12));
  EXPECT_EQ(SummaryAfterThaw(launcher, 124)["status"], "timed out");
}

/// A worker of `none` waits for no other, so nobody but its launcher or its agent notices its end.
class KilledOnAFrozenDiskTest : public FrozenDiskTest,
                                public ::testing::WithParamInterface<const char*> {};

TEST_P(KilledOnAFrozenDiskTest, TheWorkerIsNamed) {
  Process launcher = TrainUntilItWaits(std::string(GetParam()) + kEndless);
  ASSERT_EQ(::kill(workers_[1], SIGKILL), 0);
  EXPECT_NO_THROW(ExpectMembersEnd());
  const nlohmann::json summary = SummaryAfterThaw(launcher, 1);
  EXPECT_THAT(summary["error"].get<std::string>(), HasSubstr("worker 1 (pid "));
  EXPECT_EQ(summary["failure"]["kind"], "signal");
}

INSTANTIATE_TEST_SUITE_P(Starts, KilledOnAFrozenDiskTest,
                         ::testing::Values("none", "none --launcher mpirun", "mpi"),
                         [](const auto& start) {
                           std::string name = start.param;
                           std::erase_if(name, [](char c) { return c == ' ' || c == '-'; });
                           return name;
                         });

}  // namespace
}  // namespace ringside
