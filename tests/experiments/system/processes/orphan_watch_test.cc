#include "ringside/experiments/system/processes/orphan_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <thread>

#include "ringside/common/base/file_descriptor.h"
#include "ringside/experiments/system/processes/process.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

using ::testing::Contains;
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

/// Like `Shell`, but what it starts is a daemon: its parent has ended, its environment is empty,
/// and SIGTERM does not end it.
Process ShellWithDaemon() {
  return Process({.argv = {"/bin/sh", "-c", R"(
      setsid env -i /bin/sh -c '/bin/sh -c "trap \"\" TERM; echo \$\$; exec sleep 1000" &' &
      exec sleep 1000)"}});
}

TEST(OrphanWatch, KillsADaemonWithoutTheMark) {
  const OrphanWatch watch;
  Process shell = ShellWithDaemon();
  const pid_t orphan = StartOrphan(shell);
  End(shell);
  EXPECT_TRUE(IsAlive(orphan));
  EXPECT_THAT(watch.KillAll(), Contains(orphan));  // and its parent, if that is still ending
  EXPECT_FALSE(IsAlive(orphan));
}

// It may be the other's.
TEST(OrphanWatch, LeavesWhatHasNoMarkAloneBesideAnotherWatch) {
  std::optional<OrphanWatch> watch(std::in_place);
  const OrphanWatch other;
  Process shell = ShellWithDaemon();
  const pid_t orphan = StartOrphan(shell);
  End(shell);
  EXPECT_THAT(other.KillAll(), IsEmpty());
  EXPECT_TRUE(IsAlive(orphan));
  watch.reset();
  EXPECT_THAT(other.KillAll(), Contains(orphan));
}

// A child of this process in another session may leave orphans, too.
TEST(OrphanWatch, LeavesWhatHasNoMarkAloneIfItMayBeOlder) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    while (true) ::pause();
  }
  ASSERT_GT(child, 0);
  WaitUntil("its own session", [&] { return ::getsid(child) == child; });
  {
    const OrphanWatch watch;
    EXPECT_THAT(watch.KillAll(), IsEmpty());
  }
  EXPECT_EQ(::kill(child, SIGKILL), 0);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

// As a background job of a script that runs `exec ringside ...`.
TEST(OrphanWatch, LeavesTheDaemonOfAnOlderBackgroundJobAlone) {
  std::array<int, 2> fds;
  ASSERT_EQ(::pipe(fds.data()), 0);
  const FileDescriptor read_end(fds[0]), write_end(fds[1]);
  const pid_t job = ::fork();
  if (job == 0) {
    char go = 0;
    if (::read(read_end.get(), &go, 1) != 1) ::_exit(1);
    const pid_t daemon = ::fork();
    if (daemon == 0) {
      ::setsid();
      while (true) ::pause();
    }
    ::_exit(::write(write_end.get(), &daemon, sizeof(daemon)) == sizeof(daemon) ? 0 : 1);
  }
  ASSERT_GT(job, 0);
  const OrphanWatch watch;
  ASSERT_EQ(::write(write_end.get(), "x", 1), 1);
  ASSERT_EQ(::waitpid(job, nullptr, 0), job);
  pid_t daemon = -1;
  ASSERT_EQ(::read(read_end.get(), &daemon, sizeof(daemon)), ssize_t{sizeof(daemon)});
  WaitUntil("its own session", [&] { return ::getsid(daemon) == daemon; });
  EXPECT_THAT(watch.KillAll(), IsEmpty());
  EXPECT_TRUE(IsAlive(daemon));
  ASSERT_GT(daemon, 0);
  EXPECT_EQ(::kill(daemon, SIGKILL), 0);
  EXPECT_EQ(::waitpid(daemon, nullptr, 0), daemon);
}

TEST(OrphanWatch, LeavesTheChildrenOfThisProcessAlone) {
  const OrphanWatch watch;
  const Process program({.argv = {"/bin/sleep", "1000"}});
  const pid_t child = ::fork();
  if (child == 0) {
    while (true) ::pause();
  }
  ASSERT_GT(child, 0);
  EXPECT_THAT(watch.KillAll(), IsEmpty());
  EXPECT_EQ(::kill(child, SIGKILL), 0);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
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

/// A shell that has started a process whose parent has ended, and then waits. The process ends by
/// itself.
Process ShellThatLeaves(const std::string& process) {
  return Process({.argv = {"/bin/sh", "-c", "sh -c '" + process + " &'; exec sleep 1000"}});
}

/// Whether process `pid`, a child of this one, is there, be it ended.
bool Exists(pid_t pid) { return ::kill(pid, 0) == 0; }

TEST(OrphanWatch, ReapsWhatHasEndedByItself) {
  const OrphanWatch watch;
  for (const char* process : {"sh -c \"echo \\$\\$\"", "setsid sh -c \"echo \\$\\$\""}) {
    Process shell = ShellThatLeaves(process);
    const pid_t orphan = StartOrphan(shell);
    const std::array started{shell.pid()};
    WaitUntil("its end", [&] {
      watch.ReapEnded(started);
      return !Exists(orphan);
    });
    EXPECT_TRUE(IsAlive(shell.pid()));
    End(shell);
  }
}

// Whoever has started them reaps them.
TEST(OrphanWatch, ReapsNoProcessThatThisOneHasStarted) {
  const OrphanWatch watch;
  Process program({.argv = {"/bin/true"}});
  const pid_t child = ::fork();
  if (child == 0) ::_exit(7);
  ASSERT_GT(child, 0);
  for (const pid_t pid : {program.pid(), child}) {
    siginfo_t ended{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT), 0);
  }
  const std::array started{program.pid()};
  watch.ReapEnded(started);
  WaitUntil("its end", [&] { return program.Poll().has_value(); });
  EXPECT_EQ(program.Poll()->code, 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
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
