#include "ringside/experiments/job/launcher/wait_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Kind = Activity::Kind;

WorkerState Waits(int rank) {
  return {.rank = rank, .activity = {Kind::kAwait, 17, 3}, .activity_seconds = 2};
}
WorkerState Computes(int rank, double seconds = 2) {
  return {.rank = rank, .activity = {Kind::kCompute, 17, -1}, .activity_seconds = seconds};
}

TEST(HeldUpBy, NamesThoseWhoDoNotWait) {
  EXPECT_THAT(HeldUpBy(std::vector{Waits(0), Computes(1), Waits(2)}), ElementsAre(1));
  EXPECT_THAT(HeldUpBy(std::vector{Computes(0), Computes(1)}), IsEmpty()) << "nobody waits";
  EXPECT_THAT(HeldUpBy(std::vector{Waits(0), Waits(1)}), IsEmpty()) << "nobody else is there";
}

TEST(HeldUpBy, NamesTheSilentFirst) {
  WorkerState silent = Waits(2);  // it said so before it fell silent
  silent.silent_seconds = 3;
  EXPECT_THAT(HeldUpBy(std::vector{Waits(0), Computes(1), silent}), ElementsAre(2));
}

TEST(HeldUpBy, NamesTheFailedBeforeAll) {
  WorkerState failed = Waits(2);
  failed.failed = true;
  WorkerState silent = Computes(1);
  silent.silent_seconds = 3;
  EXPECT_THAT(HeldUpBy(std::vector{Waits(0), silent, failed}), ElementsAre(2));
  EXPECT_THAT(failed.Text(), StartsWith("worker 2 has failed"));
}

TEST(HeldUpBy, ThoseWhoHaveLeftCountForNothing) {
  WorkerState gone = Computes(1);
  gone.left = true;
  gone.silent_seconds = 10;
  EXPECT_THAT(HeldUpBy(std::vector{Waits(0), gone}), IsEmpty());
}

TEST(WaitText, BeginsWithTheCause) {
  const std::string text = WaitText(std::vector{Waits(0), Computes(1, 3.2)});
  EXPECT_EQ(text,
            "worker 1 computes step 17 for 3.2 s; "
            "worker 0 waits for bucket 3 in step 17 for 2.0 s");
  WorkerState silent = Waits(0);
  silent.silent_seconds = 4;
  EXPECT_THAT(silent.Text(), HasSubstr("for 6.0 s, has been silent for 4.0 s"));
  WorkerState left = Waits(0);
  left.left = true;
  EXPECT_EQ(left.Text(),
            "worker 0 has handed in its result (its last word: it waits for bucket 3 in step 17)");
  EXPECT_EQ(WorkerState{.rank = 5}.Text(), "worker 5 has not begun");
}

TEST(WaitJson, HasAllThatIsKnown) {
  const nlohmann::json rows = WaitJson(std::vector{Waits(4)});
  EXPECT_EQ(rows,
            (nlohmann::json::array({{{"worker", 4},
                                     {"text", "worker 4 waits for bucket 3 in step 17 for 2.0 s"},
                                     {"activity", "waits for bucket 3 in step 17"},
                                     {"step", 17},
                                     {"bucket", 3},
                                     {"seconds", 2.0},
                                     {"silent_seconds", 0.0},
                                     {"left", false},
                                     {"failed", false}}})));
  EXPECT_EQ(WaitJson(std::vector{Waits(0), Computes(1)})[0]["worker"], 1) << "the cause";
  const nlohmann::json unknown = WaitJson(std::vector{WorkerState{.rank = 1}});
  EXPECT_TRUE(unknown[0]["activity"].is_null());
  EXPECT_TRUE(unknown[0]["bucket"].is_null());
}

TEST(WorkerStates, ComeFromTheLastBeats) {
  std::chrono::steady_clock::time_point now{};
  JobState job({.workers = 3, .clock = [&] { return now; }});
  const auto ticket = job.Join({.who = {Role::kWorker, 1}, .pid = 7});
  Beat beat;
  beat.activity = {Kind::kAwait, 5, 2};
  beat.activity_seconds = 1.5;
  job.HandleHeartbeat(ticket, beat);
  const auto states = WorkerStates(job, 3, now + std::chrono::seconds(2));
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states[0].rank, 1);
  EXPECT_EQ(states[0].activity, beat.activity);
  EXPECT_EQ(states[0].activity_seconds, 1.5);
  EXPECT_EQ(states[0].silent_seconds, 2);
  EXPECT_FALSE(states[0].left);
  EXPECT_FALSE(states[0].failed);
  job.Fail(ticket, FailureKind::kComm, "why");
  EXPECT_TRUE(WorkerStates(job, 3, now)[0].failed);
}

class StragglerWatchTest : public ::testing::Test {
 protected:
  StragglerWatchTest() { AddSteps(1000); }

  void AddSteps(double step_ms) {
    const std::vector<StepRecord> steps(64, StepRecord{.step_ms = step_ms});
    watch_.AddSteps(steps);
  }

  StragglerWatch watch_;
};

TEST_F(StragglerWatchTest, WarnsOfAStepThatTakesThreeTimesAsLong) {
  EXPECT_FALSE(watch_.Look(std::vector{Waits(0), Computes(1, 2.9)}, 0));
  const auto warning = watch_.Look(std::vector{Waits(0), Computes(1, 3.1)}, 0);
  ASSERT_TRUE(warning);
  EXPECT_EQ(*warning,
            "warning: worker 1 computes step 17 for 3.1 s; 1 worker waits for it, and a step "
            "takes 1.000 s");
}

TEST_F(StragglerWatchTest, WarnsOnceAMinute) {
  const std::vector workers{Waits(0), Computes(1, 9)};
  EXPECT_TRUE(watch_.Look(workers, 0));
  EXPECT_FALSE(watch_.Look(workers, 59));
  EXPECT_TRUE(watch_.Look(workers, 61));
}

// As under asynchronous servers.
TEST_F(StragglerWatchTest, NobodyIsHeldUpByAWorkerForWhomNobodyWaitsLong) {
  WorkerState shortly = Waits(0);
  shortly.activity_seconds = 0.01;
  EXPECT_FALSE(watch_.Look(std::vector{shortly, Computes(1, 9)}, 0));
}

TEST_F(StragglerWatchTest, ASilentWorkerIsNamedBeforeItsLeaseEnds) {
  AddSteps(10'000);
  WorkerState silent = Waits(1);
  silent.silent_seconds = 2;
  const auto warning = watch_.Look(std::vector{Waits(0), silent}, 0);
  ASSERT_TRUE(warning);
  EXPECT_THAT(*warning, HasSubstr("has been silent for 2.0 s"));
}

TEST_F(StragglerWatchTest, PausesAreNoSteps) {
  WorkerState pauses = Computes(1, 60);
  pauses.activity.kind = Kind::kEvaluate;
  EXPECT_FALSE(watch_.Look(std::vector{Waits(0), pauses}, 0));
  pauses.activity.kind = Kind::kCheckpoint;
  EXPECT_FALSE(watch_.Look(std::vector{Waits(0), pauses}, 0));
}

TEST(StragglerWatch, KnowsNothingBeforeSomeSteps) {
  StragglerWatch watch;
  EXPECT_FALSE(watch.Look(std::vector{Waits(0), Computes(1, 60)}, 0));
  const std::vector<StepRecord> short_steps(5, StepRecord{.step_ms = 2});
  watch.AddSteps(short_steps);
  EXPECT_FALSE(watch.Look(std::vector{Waits(0), Computes(1, 0.9)}, 0)) << "less than a second";
  EXPECT_TRUE(watch.Look(std::vector{Waits(0), Computes(1, 1.1)}, 0));
}

}  // namespace
}  // namespace ringside
