#include "ringside/experiments/system/orphan_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>

#include "ringside/experiments/system/process.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Starts a shell that starts a process in another session, and returns that one's number. The
/// shell waits.
pid_t StartOrphan(Process& shell) {
  pollfd ready{shell.output_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&ready, 1, 20'000), 1);
  char text[32] = {};
  EXPECT_GT(::read(shell.output_fd(), text, sizeof(text) - 1), 0);
  return std::stoi(text);
}

Process Shell(const OrphanWatch* watch) {
  Process::Options options{
      .argv = {"/bin/sh", "-c", "setsid sh -c 'echo $$; exec sleep 1000' & exec sleep 1000"}};
  if (watch != nullptr) options.environment = {watch->mark()};
  return Process(options);
}

void End(Process& shell) {
  shell.Signal(SIGKILL);
  WaitUntil("the end of the shell", [&] { return shell.Poll().has_value(); });
}

TEST(OrphanWatch, KillsWhatHasLeftItsGroup) {
  const OrphanWatch watch;
  Process shell = Shell(&watch);
  const pid_t orphan = StartOrphan(shell);
  End(shell);
  EXPECT_TRUE(IsAlive(orphan));
  EXPECT_THAT(watch.KillAll(), ElementsAre(orphan));
  EXPECT_FALSE(IsAlive(orphan));
  EXPECT_THAT(watch.KillAll(), IsEmpty());
}

TEST(OrphanWatch, LeavesTheOrphansOfOthersAlone) {
  const OrphanWatch watch, other;
  Process shell = Shell(&other);
  const pid_t orphan = StartOrphan(shell);
  End(shell);
  EXPECT_THAT(watch.KillAll(), IsEmpty());
  EXPECT_TRUE(IsAlive(orphan));
  EXPECT_THAT(other.KillAll(), ElementsAre(orphan));
}

// What it reads of a process goes with the process.
TEST(OrphanWatch, BearsThatOtherProcessesEndMeanwhile) {
  const OrphanWatch watch;
  std::atomic<bool> enough{false};
  std::jthread others([&] {
    while (!enough) {
      Process other({.argv = {"/bin/true"}});
      WaitUntil("its end", [&] { return other.Poll().has_value(); });
    }
  });
  for (int i = 0; i < 1'000; ++i) EXPECT_THAT(watch.KillAll(), IsEmpty());
  enough = true;
}

TEST(OrphanWatch, InheritsOrphansAsLongAsItExists) {
  const auto inherits = [] {
    int value = -1;
    EXPECT_EQ(::prctl(PR_GET_CHILD_SUBREAPER, &value), 0);
    return value;
  };
  EXPECT_EQ(inherits(), 0);
  {
    std::optional<OrphanWatch> first(std::in_place);
    const OrphanWatch second;
    first.reset();
    EXPECT_EQ(inherits(), 1);
  }
  EXPECT_EQ(inherits(), 0);
}

}  // namespace
}  // namespace ringside
