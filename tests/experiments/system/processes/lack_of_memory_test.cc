#include "ringside/experiments/system/processes/lack_of_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <thread>

namespace ringside {
namespace {

template <typename Error>
[[noreturn]] void ThrowInAThread(const Error& error) {
  std::thread([&error] { throw error; }).join();
  std::abort();
}

// A child process of its own, because limits and handlers stay.
class LackOfMemoryDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(LackOfMemoryDeathTest, InAThreadIsSaidBeforeTheProcessAborts) {
  EXPECT_EXIT(
      {
        SayWhenMemoryRunsOut();
        ThrowInAThread(std::bad_alloc());
      },
      ::testing::KilledBySignal(SIGABRT), "^ringside: memory ran out\n$");
}

TEST_F(LackOfMemoryDeathTest, NamesTheLimit) {
  EXPECT_EXIT(
      {
        rlimit limit{};
        ::getrlimit(RLIMIT_AS, &limit);
        limit.rlim_cur = rlim_t{1} << 47;
        ::setrlimit(RLIMIT_AS, &limit);
        SayWhenMemoryRunsOut();
        ThrowInAThread(std::bad_alloc());
      },
      ::testing::KilledBySignal(SIGABRT), "may use 137438953472 KiB \\(ulimit -v\\)");
}

TEST_F(LackOfMemoryDeathTest, OtherExceptionsSayWhatTheyAre) {
  EXPECT_EXIT(
      {
        SayWhenMemoryRunsOut();
        ThrowInAThread(std::runtime_error("something else"));
      },
      ::testing::KilledBySignal(SIGABRT), "something else");
}

}  // namespace
}  // namespace ringside
