// A child writes a checkpoint while its parent traces it. The parent kills it right before its n-th
// system call, for every n.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>

#include "ringside/experiments/checkpoint/checkpoint_folder.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/checkpoint/checkpoint_testing.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr int kNever = 1 << 30;

/// Runs `body` in a child process and kills it before system call number `kill_at`, counted from 0.
/// Returns the numbers of the system calls that it began.
std::vector<std::uint64_t> RunTraced(const std::function<void()>& body, int kill_at) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(1);
    ::raise(SIGSTOP);
    body();
    ::_exit(0);
  }
  std::vector<std::uint64_t> calls;
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSTOPPED(status)) << "a process may not trace its children here";
  constexpr std::uintptr_t kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
  EXPECT_EQ(::ptrace(PTRACE_SETOPTIONS, child, nullptr, reinterpret_cast<void*>(kOptions)), 0);
  while (true) {
    if (::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) != 0) break;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    if (!WIFSTOPPED(status)) break;
    __ptrace_syscall_info info{};
    if (::ptrace(PTRACE_GET_SYSCALL_INFO, child, reinterpret_cast<void*>(sizeof(info)), &info) <=
        0) {
      ADD_FAILURE() << "cannot trace: " << std::strerror(errno);
      break;
    }
    if (info.op != PTRACE_SYSCALL_INFO_ENTRY) continue;
    if (static_cast<int>(calls.size()) == kill_at) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      break;
    }
    calls.push_back(info.entry.nr);
  }
  if (kill_at == kNever) {
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  return calls;
}

class CheckpointCrashTest : public ::testing::Test {
 protected:
  CheckpointCrashTest() { Reset(); }

  /// The folder as it is before the write: step 4 is complete.
  void Reset() {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
    small_.info.steps_done = 4;
    small_.Write(folder_);
    small_.info.steps_done = 8;
  }

  void Save() {
    small_.Write(folder_);
    PruneCheckpoints(folder_, 1);
  }

  const TemporaryDirectory directory_;
  const std::string folder_ = directory_.Path("checkpoints");
  SmallCheckpoint small_;
};

TEST_F(CheckpointCrashTest, AfterAKillAtAnySystemCallTheOldOrTheNewOneIsWhole) {
  const auto calls = RunTraced([this] { Save(); }, kNever);
  ASSERT_GT(calls.size(), 20U);
  int old_ones = 0, new_ones = 0;
  for (int kill_at = 0; kill_at <= static_cast<int>(calls.size()); ++kill_at) {
    Reset();
    RunTraced([this] { Save(); }, kill_at);
    const std::vector<std::int64_t> steps = CheckpointSteps(folder_);
    ASSERT_FALSE(steps.empty()) << "call " << kill_at;
    for (const std::int64_t step : steps) {
      // While step 4 is being removed its parts may be gone, but then its own file is, too.
      const CheckpointFile file(CheckpointPath(folder_, step));
      EXPECT_NO_THROW(file.CheckAll()) << "call " << kill_at << ", step " << step;
      EXPECT_EQ(file.Load().params, small_.params);
    }
    (steps.front() == 8 ? new_ones : old_ones) += 1;
    RemoveTemporaryCheckpoints(folder_);
    for (const auto& entry : fs::directory_iterator(folder_)) {
      EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << entry.path();
    }
  }
  EXPECT_GT(old_ones, 0);
  EXPECT_GT(new_ones, 0);
}

// A kill does not lose what was written, a power failure does. So the order of the calls counts.
TEST_F(CheckpointCrashTest, FilesAreSyncedBeforeTheyGetTheirNameAndTheDirectoryAfterwards) {
  const auto calls = RunTraced([this] { small_.Write(folder_); }, kNever);
  std::vector<std::uint64_t> order;
  std::ranges::copy_if(calls, std::back_inserter(order), [](std::uint64_t call) {
    return call == SYS_fsync || call == SYS_renameat || call == SYS_renameat2;
  });
  const std::uint64_t rename =
      std::ranges::count(order, static_cast<std::uint64_t>(SYS_renameat)) > 0 ? SYS_renameat
                                                                              : SYS_renameat2;
  std::vector<std::uint64_t> expected;  // the parts of two workers, then the file of the job
  for (int file = 0; file < 3; ++file) {
    expected.insert(expected.end(), {SYS_fsync, rename, SYS_fsync});
  }
  EXPECT_EQ(order, expected);
}

}  // namespace
}  // namespace ringside
