#include "ringside/experiments/job/fidelity/judge_fidelity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace ringside {
namespace {

using Clock = TimeWindow::Clock;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kSlotMs = 96;
constexpr std::uint64_t kSlotTicks = 10'000;

Clock::time_point At(double seconds) {
  return Clock::time_point(
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
}

TimeWindow Window(double begin, double end) { return {At(begin), At(end)}; }

/// A value at a time in seconds.
using OverTime = std::function<double(double)>;
OverTime Always(double value) {
  return [value](double) { return value; };
}

/// A record from second 0 to `seconds`: the idle share of every slot, the lateness of every probe.
ProcessorRecord Record(double seconds, const OverTime& idle, const OverTime& late_ms) {
  ProcessorRecord record;
  record.slots.push_back({.due = At(0), .ticks_at = At(0), .ticks = {500, 1000}});
  for (int begin = 0; begin < seconds * 1000; begin += kSlotMs) {
    ProcessorSlot slot{.due = At(begin / 1e3),
                       .ticks_at = At((begin + kSlotMs) / 1e3),
                       .ticks = record.slots.back().ticks};
    slot.ticks.all += kSlotTicks;
    slot.ticks.idle += static_cast<std::uint64_t>(idle(begin / 1e3) * kSlotTicks);
    for (; slot.probes < kProbesPerSlot; ++slot.probes) {
      const double due = (begin + slot.probes * kProbePeriod.count()) / 1e3;
      slot.late_ms.at(static_cast<std::size_t>(slot.probes)) = static_cast<float>(late_ms(due));
    }
    record.slots.push_back(slot);
  }
  return record;
}

ProcessorRecord GoodRecord(double seconds) { return Record(seconds, Always(0.8), Always(0.125)); }

FidelityInput Input(const ProcessorRecord& record, std::vector<TimeWindow> windows) {
  return {.processor = record,
          .windows = std::move(windows),
          .step_ms = 10,
          .counters = LinkCounters{.sent_segments = 1000},
          .counters_error = "",
          .loses_on_purpose = false};
}

TEST(JudgeFidelity, ARunThatTheMachineCarriedIsOk) {
  const ProcessorRecord record = GoodRecord(5);
  const Fidelity fidelity = JudgeFidelity(Input(record, {Window(1, 3.5)}));
  EXPECT_THAT(fidelity.limited_by, IsEmpty());
  EXPECT_THAT(fidelity.not_judged, IsEmpty());
  EXPECT_DOUBLE_EQ(fidelity.judged_seconds, 2.5);
  EXPECT_NEAR(*fidelity.least_idle_share, 0.8, 1e-9);
  EXPECT_NEAR(*fidelity.median_idle_share, 0.8, 1e-9);
  EXPECT_DOUBLE_EQ(fidelity.late->p99, 0.125);
  EXPECT_DOUBLE_EQ(fidelity.late->worst_second_p99, 0.125);
  EXPECT_DOUBLE_EQ(fidelity.late->max, 0.125);
  EXPECT_DOUBLE_EQ(fidelity.late->allowed, 1);
  EXPECT_EQ(fidelity.retransmitted_share, 0);
}

TEST(JudgeFidelity, IdleTimeAtTheLimitIsEnoughAndBelowItIsNot) {
  FidelityLimits limits;
  limits.least_idle_share = 0.5;  // a binary fraction, which no rounding moves
  const ProcessorRecord at = Record(4, Always(0.5), Always(0));
  EXPECT_THAT(JudgeFidelity(Input(at, {Window(0, 3)}), limits).limited_by, IsEmpty());
  const ProcessorRecord below = Record(4, Always(0.499), Always(0));
  EXPECT_THAT(JudgeFidelity(Input(below, {Window(0, 3)}), limits).limited_by,
              ElementsAre("the processor: 50 % idle in second 1, at least 50 % needed (bad in 3 of "
                          "3 seconds)"));
  EXPECT_EQ(FidelityLimits().least_idle_share, 0.35);
}

TEST(JudgeFidelity, OneBusySecondIsEnoughAndIsNamed) {
  const OverTime idle = [](double s) { return s >= 3.01 && s < 3.99 ? 0.04 : 0.9; };
  const ProcessorRecord record = Record(6, idle, Always(0));
  const Fidelity fidelity = JudgeFidelity(Input(record, {Window(1, 5)}));
  ASSERT_EQ(fidelity.limited_by.size(), 1u);
  EXPECT_THAT(fidelity.limited_by[0], HasSubstr("% idle in second 3, at least 35 % needed"));
  EXPECT_LT(*fidelity.least_idle_share, 0.2);
  EXPECT_GT(*fidelity.median_idle_share, 0.85);
}

TEST(JudgeFidelity, WhatIsBusyOutsideTheCountedStepsDoesNotCount) {
  const OverTime idle = [](double s) { return s < 2 || s >= 4 ? 0.0 : 0.9; };
  const OverTime late = [](double s) { return s < 2.1 || s >= 3.9 ? 50.0 : 0.1; };
  const ProcessorRecord record = Record(6, idle, late);
  // A slot may begin within a window and end after it.
  EXPECT_THAT(JudgeFidelity(Input(record, {Window(2.1, 3.9)})).limited_by, IsEmpty());
  EXPECT_EQ(JudgeFidelity(Input(record, {Window(1, 5)})).limited_by.size(), 2u);
}

TEST(JudgeFidelity, TheRestOfASecondIsJudgedWithWhatComesBefore) {
  // Half of the last second is busy; the rest alone would be all busy.
  const OverTime idle = [](double s) { return s >= 2.495 ? 0.0 : 1.0; };
  const ProcessorRecord record = Record(6, idle, Always(0));
  const Fidelity fidelity = JudgeFidelity(Input(record, {Window(0, 3)}));
  EXPECT_NEAR(*fidelity.least_idle_share, 0.5, 0.02);
  const Fidelity shifted = JudgeFidelity(Input(record, {Window(0.2, 3)}));
  EXPECT_NEAR(*shifted.least_idle_share, 0.5, 0.02) << "second 3 lasts from 2 to 3";
}

TEST(JudgeFidelity, ATimeBelowASecondIsOneSample) {
  const OverTime idle = [](double s) { return s < 1.245 ? 0.25 : 0.75; };
  const ProcessorRecord record = Record(3, idle, Always(0));
  const Fidelity fidelity = JudgeFidelity(Input(record, {Window(1, 1.5)}));
  EXPECT_DOUBLE_EQ(fidelity.judged_seconds, 0.5);
  EXPECT_NEAR(*fidelity.least_idle_share, 0.5, 0.02);
  EXPECT_EQ(fidelity.least_idle_share, fidelity.median_idle_share);
}

TEST(JudgeFidelity, WindowsAreJoinedAndTheirPausesLeftOut) {
  const OverTime idle = [](double s) { return s > 1.4 && s < 2.6 ? 0.0 : 0.9; };  // a pause
  const OverTime late = [](double s) { return s > 1.4 && s < 2.6 ? 99.0 : 0.1; };
  const ProcessorRecord record = Record(6, idle, late);
  const Fidelity fidelity =
      JudgeFidelity(Input(record, {Window(1, 1.4), Window(2.7, 3), Window(3.1, 3.4)}));
  EXPECT_DOUBLE_EQ(fidelity.judged_seconds, 1);
  EXPECT_THAT(fidelity.limited_by, IsEmpty());
  EXPECT_NEAR(*fidelity.least_idle_share, 0.9, 0.02);
  EXPECT_NEAR(fidelity.late->max, 0.1, 1e-6);
}

TEST(JudgeFidelity, LateWakeUpsAreComparedWithTheStepWhereItIsLong) {
  const ProcessorRecord at = Record(3, Always(0.9), Always(2));
  FidelityInput input = Input(at, {Window(0, 2)});
  input.step_ms = 100;  // 2 % of it are 2 ms
  EXPECT_THAT(JudgeFidelity(input).limited_by, IsEmpty());
  EXPECT_DOUBLE_EQ(JudgeFidelity(input).late->allowed, 2);
  input.step_ms = 99;
  ASSERT_EQ(JudgeFidelity(input).limited_by.size(), 1u);
  EXPECT_THAT(JudgeFidelity(input).limited_by[0],
              HasSubstr("late wake-ups: 2 ms at the 99th percentile in second 1, at most 1.98 ms"));
}

TEST(JudgeFidelity, LateWakeUpsHaveAFloorOfOneMillisecond) {
  const ProcessorRecord at = Record(3, Always(0.9), Always(1));
  EXPECT_THAT(JudgeFidelity(Input(at, {Window(0, 2)})).limited_by, IsEmpty());
  const ProcessorRecord over = Record(3, Always(0.9), Always(1.001));
  EXPECT_EQ(JudgeFidelity(Input(over, {Window(0, 2)})).limited_by.size(), 1u);
}

TEST(JudgeFidelity, AFewLateWakeUpsOfALongRunAreSeenInTheirSecond) {
  // A tenth of one second of a hundred: a thousandth of all probes.
  const OverTime late = [](double s) { return s >= 50.3 && s < 50.4 ? 30.0 : 0.1; };
  const ProcessorRecord record = Record(101, Always(0.9), late);
  const Fidelity fidelity = JudgeFidelity(Input(record, {Window(0, 100)}));
  EXPECT_LT(fidelity.late->p99, 1);
  EXPECT_DOUBLE_EQ(fidelity.late->worst_second_p99, 30);
  ASSERT_EQ(fidelity.limited_by.size(), 1u);
  EXPECT_THAT(fidelity.limited_by[0], HasSubstr("in second 51, "));
}

TEST(JudgeFidelity, SegmentsThatAreSentAgainAreComparedWithThoseSent) {
  const ProcessorRecord record = GoodRecord(3);
  FidelityInput input = Input(record, {Window(0, 2)});
  input.counters = LinkCounters{1000, 20, 0};
  EXPECT_THAT(JudgeFidelity(input).limited_by, IsEmpty());
  EXPECT_DOUBLE_EQ(*JudgeFidelity(input).retransmitted_share, 0.02);
  input.counters->retransmitted_segments = 21;
  EXPECT_THAT(JudgeFidelity(input).limited_by,
              ElementsAre("lost packets: 2.1 % of the segments were sent again though no link's "
                          "queue dropped them, at most 2 % are allowed"));
  input.loses_on_purpose = true;
  EXPECT_THAT(JudgeFidelity(input).limited_by, IsEmpty());
  EXPECT_THAT(JudgeFidelity(input).not_judged, IsEmpty());
  EXPECT_DOUBLE_EQ(*JudgeFidelity(input).retransmitted_share, 0.021);
}

TEST(JudgeFidelity, WhatFullQueuesDroppedIsNotTheMachines) {
  const ProcessorRecord record = GoodRecord(3);
  FidelityInput input = Input(record, {Window(0, 2)});
  input.counters = LinkCounters{1000, 60, 2};
  input.segments_of_a_packet = 19;
  EXPECT_EQ(JudgeFidelity(input).limited_by.size(), 1u) << "22 segments were in no full queue";
  input.segments_of_a_packet = 20;
  EXPECT_THAT(JudgeFidelity(input).limited_by, IsEmpty());
  EXPECT_DOUBLE_EQ(*JudgeFidelity(input).retransmitted_share, 0.06);
  EXPECT_DOUBLE_EQ(*JudgeFidelity(input).unexplained_share, 0.02);
  EXPECT_EQ(JudgeFidelity(input).segments_of_a_packet, 20);
  input.counters->dropped_packets = 100;
  EXPECT_THAT(JudgeFidelity(input).limited_by, IsEmpty());
  EXPECT_EQ(JudgeFidelity(input).unexplained_share, 0);
}

TEST(JudgeFidelity, ARunThatSentNothingHasNoShare) {
  const ProcessorRecord record = GoodRecord(3);
  FidelityInput input = Input(record, {Window(0, 2)});
  input.counters = LinkCounters{};
  EXPECT_FALSE(JudgeFidelity(input).retransmitted_share);
  EXPECT_THAT(JudgeFidelity(input).not_judged, IsEmpty());
}

TEST(JudgeFidelity, WithoutACountedStepNothingIsJudged) {
  const ProcessorRecord record = Record(3, Always(0), Always(99));
  FidelityInput input = Input(record, {});
  input.counters->retransmitted_segments = 500;
  const Fidelity fidelity = JudgeFidelity(input);
  EXPECT_THAT(fidelity.limited_by, IsEmpty());
  EXPECT_THAT(fidelity.not_judged, ElementsAre("the run ended before the end of a counted step"));
  EXPECT_EQ(fidelity.judged_seconds, 0);
  EXPECT_FALSE(fidelity.least_idle_share);
  EXPECT_FALSE(fidelity.late);
}

TEST(JudgeFidelity, ATimeOfAFewTicksIsNotJudged) {
  const ProcessorRecord record = Record(3, Always(0), Always(99));
  const Fidelity fidelity = JudgeFidelity(Input(record, {Window(1, 1.09)}));
  EXPECT_THAT(fidelity.limited_by, IsEmpty());
  EXPECT_THAT(fidelity.not_judged,
              ElementsAre("the counted steps took 0.09 s, at least 0.1 s are needed"));
}

TEST(JudgeFidelity, WhatCouldNotBeReadIsNotJudged) {
  ProcessorRecord record = GoodRecord(3);
  FidelityInput input = Input(record, {Window(0, 2)});
  input.counters.reset();
  input.counters_error = "no snmp";
  EXPECT_THAT(JudgeFidelity(input).not_judged, ElementsAre("lost packets: no snmp"));
  record.error = "/proc/stat: gone";
  EXPECT_THAT(JudgeFidelity(Input(record, {Window(0, 2)})).not_judged,
              ElementsAre("the processor: /proc/stat: gone"));
  const ProcessorRecord none;
  EXPECT_THAT(JudgeFidelity(Input(none, {Window(0, 2)})).not_judged,
              ElementsAre("the processor: it was not watched during all counted steps"));
}

TEST(JudgeFidelity, AWatchThatMissesAPartOfTheCountedStepsDoesNotJudgeThem) {
  const ProcessorRecord record = Record(3, Always(0), Always(99));
  for (const TimeWindow& window : {Window(-0.001, 2), Window(1, 4)}) {
    const Fidelity fidelity = JudgeFidelity(Input(record, {window}));
    EXPECT_THAT(fidelity.limited_by, IsEmpty());
    EXPECT_THAT(fidelity.not_judged,
                ElementsAre("the processor: it was not watched during all counted steps"));
  }
}

TEST(JudgeFidelity, TicksThatStandStillAreNotJudged) {
  ProcessorRecord record = GoodRecord(3);
  for (ProcessorSlot& slot : record.slots) slot.ticks = {500, 1000};
  EXPECT_THAT(JudgeFidelity(Input(record, {Window(0, 2)})).not_judged,
              ElementsAre("the processor: /proc/stat counted nothing in second 1"));
}

TEST(JudgeFidelity, ALauncherThatWasStoppedCannotJudgeWakeUps) {
  ProcessorRecord record = GoodRecord(10);
  record.pauses.push_back(Window(4, 7));
  EXPECT_THAT(JudgeFidelity(Input(record, {Window(1, 6)})).not_judged,
              ElementsAre("late wake-ups: ringside itself did not run for 2.0 s"));
  EXPECT_THAT(JudgeFidelity(Input(record, {Window(1, 4), Window(7, 9)})).not_judged, IsEmpty());
}

}  // namespace
}  // namespace ringside
