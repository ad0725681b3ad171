#include "ringside/experiments/job/fidelity/processor_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <fstream>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/files/files.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

TEST(ProcessorTicks, IdleIsAlsoWaitingForADiskAndStolenTimeIsNot) {
  // user nice system idle iowait irq softirq steal guest guest_nice
  const ProcessorTicks ticks = ParseProcessorTicks("cpu  1 2 4 8 16 32 64 128 256 512\ncpu0 9 9\n");
  EXPECT_EQ(ticks, (ProcessorTicks{.idle = 24, .all = 255})) << "guests are part of user and nice";
}

TEST(ProcessorTicks, AnotherTextIsRefused) {
  for (const std::string text : {"", "cpu\n", "cpu  1 2 3 4\n", "cpu0 1 2 3 4 5 6 7 8\n",
                                 "cpu  1 2 3 x 5 6 7 8\n", "intr 1 2 3 4 5 6 7 8\n"}) {
    EXPECT_THROW(ParseProcessorTicks(text), MissingBackendError) << text;
  }
}

TEST(ProcessorTicks, OfSomeCoresAreTheirSum) {
  const std::string stat =
      "cpu  9 9 9 9 9 9 9 9\ncpu0 1 0 0 2 0 0 0 0\ncpu1 4 0 0 8 0 0 0 0\n"
      "cpu10 16 0 0 32 0 0 0 0 7 7\nintr 1\n";
  EXPECT_EQ(ParseProcessorTicks(stat, {1}), (ProcessorTicks{.idle = 8, .all = 12}));
  EXPECT_EQ(ParseProcessorTicks(stat, {0, 10}), (ProcessorTicks{.idle = 34, .all = 51}));
  EXPECT_THROW(ParseProcessorTicks(stat, {0, 2}), MissingBackendError);
}

TEST(ProcessorWatch, LooksAtTheCoresThatThisProcessMayUse) {
  if (::sysconf(_SC_NPROCESSORS_ONLN) < 2) GTEST_SKIP() << "there is one core";
  cpu_set_t all;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(all), &all), 0);
  int core = 0;
  while (!CPU_ISSET(core, &all)) ++core;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(AllowedCores(), std::vector{core});
  const ProcessorRecord record = ProcessorWatch().Stop();
  ASSERT_EQ(::sched_setaffinity(0, sizeof(all), &all), 0);
  EXPECT_EQ(record.error, "");
  const ProcessorTicks machine = ParseProcessorTicks(ReadFile("/proc/stat", 1 << 20));
  ASSERT_FALSE(record.slots.empty());
  EXPECT_LT(record.slots.back().ticks.all, machine.all);
}

TEST(ProcessorWatch, ProbesInSlotsThatAreInOrder) {
  ProcessorWatch watch;
  const auto begin = TimeWindow::Clock::now();
  WaitUntil("three slots",
            [&] { return TimeWindow::Clock::now() - begin > 3 * kProbesPerSlot * kProbePeriod; });
  const ProcessorRecord& record = watch.Stop();
  const auto end = TimeWindow::Clock::now();
  EXPECT_EQ(record.error, "");
  ASSERT_GE(record.slots.size(), 2u);
  EXPECT_EQ(record.slots.front().probes, 0);
  EXPECT_LE(record.slots.back().ticks_at, end);
  EXPECT_GE(record.slots.back().ticks_at, begin) << "the last look is after the call to stop";
  for (std::size_t i = 1; i < record.slots.size(); ++i) {
    const ProcessorSlot& slot = record.slots[i];
    EXPECT_GT(slot.due, record.slots[i - 1].due);
    EXPECT_GT(slot.ticks_at, record.slots[i - 1].ticks_at);
    EXPECT_GE(slot.ticks.all, record.slots[i - 1].ticks.all);
    if (i + 1 < record.slots.size() && record.pauses.empty()) {
      EXPECT_EQ(slot.probes, kProbesPerSlot);
    }
    for (int probe = 0; probe < slot.probes; ++probe) {
      EXPECT_GE(slot.late_ms.at(static_cast<std::size_t>(probe)), 0);
    }
  }
}

TEST(ProcessorWatch, SaysWhatItCannotRead) {
  const TemporaryDirectory directory;
  EXPECT_THAT(ProcessorWatch(directory.path() + "/none").Stop().error,
              HasSubstr("/none: No such file or directory"));
  const std::string other = directory.path() + "/stat";
  std::ofstream(other) << "cpus: 2\n";
  EXPECT_EQ(ProcessorWatch(other).Stop().error, "/proc/stat has no ticks of cpu");
  EXPECT_THAT(ProcessorWatch(directory.path()).Stop().error, HasSubstr("Is a directory"));
}

}  // namespace
}  // namespace ringside
