// Tests where the ranks of a group run. Ranks are threads.
#include "ringside/ring/shm/shm_group.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <thread>
#include <vector>

#include "ringside/common/core/store.h"
#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

using namespace std::chrono_literals;

constexpr Operation kTest{"the test"};

CommOptions TestComm() { return {.address = "127.0.0.1", .token = "secret", .timeout = 5s}; }

cpu_set_t UsableCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof(cores), &cores);
  return cores;
}

/// The first two cores that this process may use; fewer if it has fewer.
std::vector<int> TwoCores() {
  const cpu_set_t usable = UsableCores();
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE && cores.size() < 2; ++core) {
    if (CPU_ISSET(core, &usable)) cores.push_back(core);
  }
  return cores;
}

/// Lets the calling thread use only these cores.
void Allow(const std::vector<int>& cores) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  for (const int core : cores) CPU_SET(core, &allowed);
  ASSERT_EQ(sched_setaffinity(0, sizeof(allowed), &allowed), 0);
}

TEST(ShmGroup, ARankThatSharesItsCoreSleepsInsteadOfSpinning) {
  const std::vector<int> cores = TwoCores();
  if (cores.size() < 2) GTEST_SKIP() << "needs a core for each of two ranks at the start";
  constexpr int kBarriers = 100;
  constexpr ShmWaitPolicy kSpinsForEver{.spin = 10s};
  InProcessStore store;
  const CommOptions comm = TestComm();
  std::array<std::int64_t, 2> sleeps{};
  RunRanks(2, [&](int rank) {
    ShmGroup group({.rank = rank,
                    .workers = {0, 1},
                    .store = store,
                    .comm = comm,
                    .prefix = "sleep",
                    .patience = kSpinsForEver});
    Allow({cores[0]});
    group.Barrier(kTest);
    rusage before{};
    rusage after{};
    ::getrusage(RUSAGE_THREAD, &before);
    for (int i = 0; i < kBarriers; ++i) group.Barrier(kTest);
    ::getrusage(RUSAGE_THREAD, &after);
    sleeps[static_cast<std::size_t>(rank)] = after.ru_nvcsw - before.ru_nvcsw;
  });
  // In every barrier one of the two has to wait for the other.
  EXPECT_GE(sleeps[0] + sleeps[1], kBarriers / 2);
}

TEST(ShmGroup, RanksThatShareACorePartEvenIfTheOtherCoreIsBusy) {
  const std::vector<int> cores = TwoCores();
  if (cores.size() < 2) GTEST_SKIP() << "needs two cores";
  constexpr int kBarriers = 500;  // of about 10 us each: longer than the pause between two moves
  constexpr int kRounds = 10;     // other programs may put both on one core again
  // Of low priority, so that a rank that comes to its core runs at once and is not pulled back.
  const std::jthread busy([&](const std::stop_token& stop) {
    ASSERT_EQ(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 19), 0);
    Allow({cores[1]});
    while (!stop.stop_requested()) {
    }
  });
  InProcessStore store;
  const CommOptions comm = TestComm();
  std::array<std::array<std::array<int, kBarriers>, kRounds>, 2> seen{};
  RunRanks(2, [&](int rank) {
    Allow(cores);
    ShmGroup group(
        {.rank = rank, .workers = {0, 1}, .store = store, .comm = comm, .prefix = "part"});
    for (auto& round : seen[static_cast<std::size_t>(rank)]) {
      Allow({cores[0]});
      group.Barrier(kTest);
      Allow(cores);  // it stays where it is until something moves it
      for (int& core : round) {
        group.Barrier(kTest);
        core = sched_getcpu();
      }
    }
  });
  EXPECT_NE(seen[0], seen[1]) << "always on one core";
}

}  // namespace
}  // namespace ringside
