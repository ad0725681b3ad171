#include "ringside/experiments/job/watch/wait_report.h"

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

MemberState Waits(int rank) {
  return {.who = {Role::kWorker, rank}, .activity = {Kind::kAwait, 17, 3}, .activity_seconds = 2};
}
MemberState Computes(int rank, double seconds = 2) {
  return {.who = {Role::kWorker, rank},
          .activity = {Kind::kCompute, 17, -1},
          .activity_seconds = seconds};
}

Member Worker(int rank) { return {Role::kWorker, rank}; }

MemberState Serves(int index, const AwaitedPeer& peer = {}) {
  return {.who = {Role::kServer, index},
          .activity = {Kind::kServe, 17, 3, peer},
          .activity_seconds = 2};
}

TEST(HeldUpBy, NamesThoseWhoDoNotWait) {
  EXPECT_THAT(HeldUpBy(std::vector{Waits(0), Computes(1), Waits(2)}), ElementsAre(Worker(1)));
  EXPECT_THAT(HeldUpBy(std::vector{Computes(0), Computes(1)}), IsEmpty()) << "nobody waits";
  EXPECT_THAT(HeldUpBy(std::vector{Waits(0), Waits(1)}), IsEmpty()) << "nobody else is there";
}

TEST(HeldUpBy, NamesTheSilentFirst) {
  MemberState silent = Waits(2);  // it said so before it fell silent
  silent.silent_seconds = 3;
  EXPECT_THAT(HeldUpBy(std::vector{Waits(0), Computes(1), silent}), ElementsAre(Worker(2)));
}

TEST(HeldUpBy, NamesTheFailedBeforeAll) {
  MemberState failed = Waits(2);
  failed.failed = true;
  MemberState silent = Computes(1);
  silent.silent_seconds = 3;
  EXPECT_THAT(HeldUpBy(std::vector{Waits(0), silent, failed}), ElementsAre(Worker(2)));
  EXPECT_THAT(failed.Text(), StartsWith("worker 2 has failed"));
}

TEST(HeldUpBy, ThoseWhoHaveLeftCountForNothing) {
  MemberState gone = Computes(1);
  gone.left = true;
  gone.silent_seconds = 10;
  EXPECT_THAT(HeldUpBy(std::vector{Waits(0), gone}), IsEmpty());
}

TEST(HeldUpBy, AServerThatLivesHoldsNobodyUp) {
  EXPECT_THAT(HeldUpBy(std::vector{Waits(0), Serves(0)}), IsEmpty());
  EXPECT_THAT(HeldUpBy(std::vector{Waits(0), Computes(1), Serves(0)}), ElementsAre(Worker(1)));
  MemberState silent = Serves(0);
  silent.silent_seconds = 3;
  EXPECT_THAT(HeldUpBy(std::vector{Waits(0), Computes(1), silent}),
              ElementsAre(Member{Role::kServer, 0}));
}

TEST(WaitText, SaysForWhomAMemberWaits) {
  MemberState worker = Waits(0);
  worker.activity.peer = {AwaitedPeer::Way::kAnswer, 1};
  const std::vector members{worker, Serves(0), Serves(1, {AwaitedPeer::Way::kPush, 2})};
  EXPECT_EQ(
      WaitText(members),
      "worker 0 waits for bucket 3 in step 17 (server 1 has not answered) for 2.0 s; server "
      "0 serves for 2.0 s; server 1 waits for pushes of bucket 3 in step 17 (worker 2 has not "
      "pushed) for 2.0 s");
  EXPECT_EQ(WaitJson(members)[0]["peer"], "server 1");
  EXPECT_EQ(WaitJson(members)[2]["peer"], "worker 2");
}

TEST(WaitText, BeginsWithTheCause) {
  const std::string text = WaitText(std::vector{Waits(0), Computes(1, 3.2)});
  EXPECT_EQ(text,
            "worker 1 computes step 17 for 3.2 s; "
            "worker 0 waits for bucket 3 in step 17 for 2.0 s");
  MemberState silent = Waits(0);
  silent.silent_seconds = 4;
  EXPECT_THAT(silent.Text(), HasSubstr("for 6.0 s, has been silent for 4.0 s"));
  MemberState left = Waits(0);
  left.left = true;
  EXPECT_EQ(left.Text(),
            "worker 0 has handed in its result (its last word: it waits for bucket 3 in step 17)");
  EXPECT_EQ(MemberState{.who = Worker(5)}.Text(), "worker 5 has not begun");
}

TEST(WaitJson, HasAllThatIsKnown) {
  const nlohmann::json rows = WaitJson(std::vector{Waits(4)});
  EXPECT_EQ(rows,
            (nlohmann::json::array({{{"member", "worker 4"},
                                     {"text", "worker 4 waits for bucket 3 in step 17 for 2.0 s"},
                                     {"activity", "waits for bucket 3 in step 17"},
                                     {"step", 17},
                                     {"bucket", 3},
                                     {"peer", nullptr},
                                     {"seconds", 2.0},
                                     {"silent_seconds", 0.0},
                                     {"left", false},
                                     {"failed", false}}})));
  EXPECT_EQ(WaitJson(std::vector{Waits(0), Computes(1)})[0]["member"], "worker 1") << "the cause";
  const nlohmann::json unknown = WaitJson(std::vector{MemberState{.who = Worker(1)}});
  EXPECT_TRUE(unknown[0]["activity"].is_null());
  EXPECT_TRUE(unknown[0]["bucket"].is_null());
}

TEST(MemberStates, ComeFromTheLastBeats) {
  std::chrono::steady_clock::time_point now{};
  JobState job({.workers = 3, .clock = [&] { return now; }});
  const auto ticket = job.Join({.who = {Role::kWorker, 1}, .pid = 7});
  Beat beat;
  beat.activity = {Kind::kAwait, 5, 2};
  beat.activity_seconds = 1.5;
  job.HandleHeartbeat(ticket, beat);
  const auto states = MemberStates(job, 3, 1, now + std::chrono::seconds(2));
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states[0].who, Worker(1));
  EXPECT_EQ(states[0].activity, beat.activity);
  EXPECT_EQ(states[0].activity_seconds, 1.5);
  EXPECT_EQ(states[0].silent_seconds, 2);
  EXPECT_FALSE(states[0].left);
  EXPECT_FALSE(states[0].failed);
  job.Fail(ticket, {FailureKind::kComm, "why"});
  EXPECT_TRUE(MemberStates(job, 3, 1, now)[0].failed);
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
  EXPECT_FALSE(watch_.NameSlow(std::vector{Waits(0), Computes(1, 2.9)}, 0));
  const auto warning = watch_.NameSlow(std::vector{Waits(0), Computes(1, 3.1)}, 0);
  ASSERT_TRUE(warning);
  EXPECT_EQ(*warning,
            "worker 1 computes step 17 for 3.1 s; 1 worker waits for it, and a step takes 1.000 "
            "s");
}

TEST_F(StragglerWatchTest, WarnsOfEachMemberOnceAMinute) {
  const std::vector workers{Waits(0), Computes(1, 9)};
  EXPECT_TRUE(watch_.NameSlow(workers, 0));
  EXPECT_FALSE(watch_.NameSlow(workers, 59));
  EXPECT_TRUE(watch_.NameSlow(workers, 61));
  EXPECT_FALSE(watch_.NameSlow(std::vector{Computes(0, 9), Waits(1)}, 62)) << "too many lines";
  const auto other = watch_.NameSlow(std::vector{Computes(0, 9), Waits(1)}, 67);
  ASSERT_TRUE(other) << "the warning of one member hides no other";
  EXPECT_THAT(*other, StartsWith("worker 0 "));
  EXPECT_FALSE(watch_.NameSlow(std::vector{Computes(0, 9), Computes(1, 9), Waits(2)}, 75));
  const auto both =
      watch_.NameSlow(std::vector{Computes(0, 9), Computes(1, 9), Computes(2, 9), Waits(3)}, 130);
  ASSERT_TRUE(both);
  EXPECT_THAT(*both, HasSubstr("; 1 worker waits for them, "));
}

// As under asynchronous servers.
TEST_F(StragglerWatchTest, NobodyIsHeldUpByAWorkerForWhomNobodyWaitsLong) {
  MemberState shortly = Waits(0);
  shortly.activity_seconds = 0.01;
  EXPECT_FALSE(watch_.NameSlow(std::vector{shortly, Computes(1, 9)}, 0));
}

// Whatever is known of steps, and whoever was named just before.
TEST(StragglerWatch, ASilentMemberIsNamedOnceForEachSilence) {
  StragglerWatch watch;
  MemberState silent = Waits(1);
  MemberState server = Serves(0);
  silent.silent_seconds = 1.9;
  EXPECT_FALSE(watch.NameSilent(std::vector{Waits(0), silent, server}));
  silent.silent_seconds = 2;
  const auto warning = watch.NameSilent(std::vector{Waits(0), silent, server});
  ASSERT_TRUE(warning);
  EXPECT_EQ(*warning, silent.Text());
  EXPECT_THAT(*warning, HasSubstr("has been silent for 2.0 s"));
  silent.silent_seconds = 2.3;
  server.silent_seconds = 2;
  const auto other = watch.NameSilent(std::vector{Waits(0), silent, server});
  ASSERT_TRUE(other) << "the warning of one member hides no other";
  EXPECT_THAT(*other, StartsWith("server 0 "));
  EXPECT_FALSE(watch.NameSilent(std::vector{Waits(0), silent, server}));
  silent.silent_seconds = 0;
  EXPECT_FALSE(watch.NameSilent(std::vector{Waits(0), silent, server}));
  silent.silent_seconds = 2;
  EXPECT_TRUE(watch.NameSilent(std::vector{Waits(0), silent, server})) << "another silence";
}

TEST(StragglerWatch, WhoHasLeftOrFailedIsNotNamedForItsSilence) {
  StragglerWatch watch;
  MemberState left = Computes(0), failed = Computes(1);
  left.left = failed.failed = true;
  left.silent_seconds = failed.silent_seconds = 9;
  EXPECT_FALSE(watch.NameSilent(std::vector{left, failed}));
}

TEST_F(StragglerWatchTest, ASilentWorkerIsNotNamedAsSlow) {
  MemberState silent = Computes(1, 9);
  silent.silent_seconds = 3;
  EXPECT_FALSE(watch_.NameSlow(std::vector{Waits(0), silent}, 0));
}

TEST_F(StragglerWatchTest, PausesAreNoSteps) {
  MemberState pauses = Computes(1, 60);
  pauses.activity.kind = Kind::kEvaluate;
  EXPECT_FALSE(watch_.NameSlow(std::vector{Waits(0), pauses}, 0));
  pauses.activity.kind = Kind::kCheckpoint;
  EXPECT_FALSE(watch_.NameSlow(std::vector{Waits(0), pauses}, 0));
}

// Before any step, too: the first checkpoint may be the one that takes long.
TEST(StragglerWatch, ACheckpointThatOthersAwaitLongIsNamedOnceAMinute) {
  StragglerWatch watch;
  MemberState writes = Computes(0, 9);
  writes.activity = {.kind = Kind::kCheckpoint, .step = 20};
  MemberState waits = Waits(1);
  waits.activity = {.kind = Kind::kSettle, .step = 20};
  EXPECT_FALSE(watch.NameLongCheckpoint(std::vector{writes, waits}, 0));
  writes.activity_seconds = 10;
  EXPECT_FALSE(watch.NameLongCheckpoint(std::vector{writes, writes}, 0)) << "nobody waits";
  EXPECT_FALSE(watch.NameLongCheckpoint(std::vector{Computes(0, 60), waits}, 0));
  const auto warning = watch.NameLongCheckpoint(std::vector{writes, waits}, 0);
  ASSERT_TRUE(warning);
  EXPECT_EQ(*warning,
            "worker 0 is at the checkpoint after 20 steps for 10.0 s, and the other workers wait");
  EXPECT_FALSE(watch.NameLongCheckpoint(std::vector{writes, waits}, 59));
  EXPECT_TRUE(watch.NameLongCheckpoint(std::vector{writes, waits}, 60));
}

TEST_F(StragglerWatchTest, AWarningOfOneKindHidesNoneOfTheOther) {
  EXPECT_TRUE(watch_.NameSlow(std::vector{Computes(0, 9), Waits(1)}, 0));
  MemberState writes = Computes(0, 10);
  writes.activity = {.kind = Kind::kCheckpoint, .step = 20};
  EXPECT_TRUE(watch_.NameLongCheckpoint(std::vector{writes, Waits(1)}, 1));
}

TEST(StragglerWatch, KnowsNothingBeforeSomeSteps) {
  StragglerWatch watch;
  EXPECT_FALSE(watch.NameSlow(std::vector{Waits(0), Computes(1, 60)}, 0));
  const std::vector<StepRecord> short_steps(5, StepRecord{.step_ms = 2});
  watch.AddSteps(short_steps);
  EXPECT_FALSE(watch.NameSlow(std::vector{Waits(0), Computes(1, 0.9)}, 0)) << "less than a second";
  EXPECT_TRUE(watch.NameSlow(std::vector{Waits(0), Computes(1, 1.1)}, 0));
}

}  // namespace
}  // namespace ringside
