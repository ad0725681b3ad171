#include "ringside/common/base/awake_clock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <thread>

namespace ringside {
namespace {

using std::chrono::milliseconds;

/// What a stopped process saw.
struct Seen {
  std::int64_t awake_ms = 0;
  std::int64_t stopped_ms = 0;
};

std::int64_t Milliseconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration_cast<milliseconds>(duration).count();
}

/// In a child: tells that the clock runs, waits to be stopped and continued, tells what it saw.
[[noreturn]] void WatchOwnStop(int fd) {
  const auto begin = AwakeNow();
  char ready = 'r';
  if (::write(fd, &ready, 1) != 1) ::_exit(1);
  ::raise(SIGSTOP);
  const Seen seen{Milliseconds(AwakeNow() - begin), Milliseconds(LastStop().length)};
  ::_exit(::write(fd, &seen, sizeof(seen)) == sizeof(seen) ? 0 : 1);
}

TEST(AwakeClock, StandsStillWhileTheProcessIsStopped) {
  std::array<int, 2> fds{};
  ASSERT_EQ(::pipe(fds.data()), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) WatchOwnStop(fds[1]);
  char ready = 0;
  ASSERT_EQ(::read(fds[0], &ready, 1), 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  std::this_thread::sleep_for(milliseconds(3'000));
  ::kill(child, SIGCONT);
  Seen seen;
  ASSERT_EQ(::read(fds[0], &seen, sizeof(seen)), static_cast<ssize_t>(sizeof(seen)));
  ::waitpid(child, &status, 0);
  EXPECT_GE(seen.stopped_ms, 2'500);
  EXPECT_LT(seen.awake_ms, 2'500);
  ::close(fds[0]);
  ::close(fds[1]);
}

TEST(AwakeClock, PassesOtherwise) {
  const auto begin = AwakeNow();
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_GE(AwakeNow() - begin, milliseconds(250));
}

}  // namespace
}  // namespace ringside
