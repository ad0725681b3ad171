#include "ringside/experiments/job/fidelity/processor_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "ringside/common/core/errors.h"
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
  EXPECT_EQ(ProcessorWatch(other).Stop().error,
            "/proc/stat does not begin with the ticks of all cores");
  EXPECT_THAT(ProcessorWatch(directory.path()).Stop().error, HasSubstr("Is a directory"));
}

}  // namespace
}  // namespace ringside
