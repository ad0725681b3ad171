#include "ringside/experiments/system/processes/death_watch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "ringside/experiments/system/processes/orphan_watch.h"
#include "ringside/experiments/system/processes/process.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

class DeathWatchTest : public ::testing::Test {
 protected:
  std::string scratch() const { return directory_.Path("scratch of a job"); }

  /// Starts a process in another session, with the mark, and returns its number.
  static pid_t StartMarked(const std::string& mark, const std::string& pid_file) {
    const Process shell({.argv = {"/bin/sh", "-c",
                                  "setsid sh -c 'echo $$ > \"$0\"; exec sleep 1000' \"$0\" &"
                                  "until [ -s \"$0\" ]; do sleep 0.01; done; exec sleep 1000",
                                  pid_file},
                         .environment = {mark}});
    pid_t pid = -1;
    WaitUntil("the number of the process",
              [&] { return static_cast<bool>(std::ifstream(pid_file) >> pid); });
    return pid;
  }

  const TemporaryDirectory directory_;
};

TEST_F(DeathWatchTest, EndsWhatAKilledProcessLeaves) {
  fs::create_directories(scratch() + "/session");
  const std::string pid_file = directory_.Path("pid");
  const pid_t owner = ::fork();
  if (owner == 0) {
    const OrphanWatch orphans;
    const DeathWatch watch(orphans.mark(), scratch());
    StartMarked(orphans.mark(), pid_file);
    std::ofstream(directory_.Path("ready")) << "yes";
    while (true) ::pause();
  }
  ASSERT_GT(owner, 0);
  WaitUntil("the processes", [&] { return fs::exists(directory_.Path("ready")); });
  pid_t left = -1;
  std::ifstream(pid_file) >> left;
  EXPECT_TRUE(IsAlive(left));
  ASSERT_EQ(::kill(owner, SIGKILL), 0);
  ASSERT_EQ(::waitpid(owner, nullptr, 0), owner);
  WaitUntil("the end of what it left", [&] { return !IsAlive(left); });
  WaitUntil("the removal of the directory", [&] { return !fs::exists(scratch()); });
}

// Where a process begins without standard input and output, the pipe takes their numbers.
TEST_F(DeathWatchTest, WaitsThoughItsOwnerWritesToTheStandardOutputThatIsThePipe) {
  const pid_t owner = ::fork();
  if (owner == 0) {
    ::close(STDIN_FILENO);
    ::close(STDOUT_FILENO);
    const OrphanWatch orphans;
    const DeathWatch watch(orphans.mark());
    const pid_t marked = StartMarked(orphans.mark(), directory_.Path("pid"));
    if (::write(STDOUT_FILENO, "a line\n", 7) != 7) ::_exit(2);
    ::usleep(500'000);  // If it were woken, it would have killed by then.
    ::_exit(IsAlive(marked) ? 0 : 1);
  }
  ASSERT_GT(owner, 0);
  int status = -1;
  ASSERT_EQ(::waitpid(owner, &status, 0), owner);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(DeathWatchTest, IsCalledOffByItsOwner) {
  fs::create_directories(scratch());
  const OrphanWatch orphans;
  pid_t left = -1;
  {
    const DeathWatch watch(orphans.mark(), scratch());
    left = StartMarked(orphans.mark(), directory_.Path("pid"));
  }
  EXPECT_TRUE(IsAlive(left));
  EXPECT_TRUE(fs::exists(scratch()));
  EXPECT_FALSE(orphans.KillAll().empty());
}

}  // namespace
}  // namespace ringside
