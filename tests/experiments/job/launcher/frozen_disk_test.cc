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
#include <filesystem>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
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

class FrozenDiskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can mount a file system";
    if (!disk_.mounted()) GTEST_SKIP() << "no file system can be mounted: " << disk_.why_not();
  }

  std::string bundle() const { return disk_.path() + "/run"; }

  /// A run whose launcher already waits for the frozen disk.
  Process TrainUntilItWaits(const std::string& strategy) {
    const std::string command = "exec " + RingsideProgram() + " train --strategy " + strategy +
                                " --workers 2 --model profile:small-tensors --compute-ms 1 " +
                                "--steps 100000000 --out " + bundle() + " 2> " + disk_.path() +
                                "/messages";
    Process launcher({.argv = {"/bin/sh", "-c", command}});
    WaitUntil(
        "the first steps", [&] { return CommonStepsIn(bundle()) > 0; }, std::chrono::seconds(30));
    pids_ = PidsIn(bundle());
    victim_ = PidIn(bundle(), "worker 1");
    disk_.Freeze();
    WaitUntil(
        "a write", [&] { return WaitsForADisk(launcher.pid()); }, std::chrono::seconds(10));
    return launcher;
  }

  void ExpectMembersEnd() const {
    WaitUntil(
        "the end of the workers", [&] { return std::ranges::none_of(pids_, IsAlive); },
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
  std::vector<pid_t> pids_;
  pid_t victim_ = -1;
};

TEST_F(FrozenDiskTest, AnInterruptedRunStops) {
  Process launcher = TrainUntilItWaits("ring");
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

// A worker of `none` waits for no other, so nobody but the launcher notices.
TEST_F(FrozenDiskTest, AWorkerThatIsKilledIsFound) {
  Process launcher = TrainUntilItWaits("none");
  ASSERT_EQ(::kill(victim_, SIGKILL), 0);
  EXPECT_NO_THROW(ExpectMembersEnd());
  const nlohmann::json summary = SummaryAfterThaw(launcher, 1);
  EXPECT_THAT(summary["error"].get<std::string>(), HasSubstr("worker 1 (pid "));
  EXPECT_EQ(summary["failure"]["kind"], "signal");
}

}  // namespace
}  // namespace ringside
