#include "paramserver/consistency.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paramserver/refusal.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Schedule& HalvesEachStep() {
  static const Schedule schedule(
      {.kind = ScheduleOptions::Kind::kStep, .base = 1, .step_every = 1, .gamma = 0.5});
  return schedule;
}

RefusalCode CodeOf(Consistency& consistency, const PushInfo& push, std::int64_t version) {
  try {
    consistency.OnPush(push, version);
  } catch (const RefusedError& error) {
    return error.refusal().code;
  }
  ADD_FAILURE() << "the push was not refused";
  return RefusalCode::kAborted;
}

TEST(Synchronous, AppliesOnceAndAnswersAllWhenAllHavePushed) {
  const auto sync = MakeSynchronous(3, HalvesEachStep());
  EXPECT_EQ(sync->Start(0), 0);
  const Verdict first = sync->OnPush({2, 0, 0}, 0);
  EXPECT_EQ(first.order, 2);
  EXPECT_FALSE(first.apply.has_value());
  EXPECT_THAT(first.answer, IsEmpty());
  EXPECT_THAT(sync->Missing(), ElementsAre(0, 1));
  sync->OnPush({0, 0, 0}, 0);
  const Verdict last = sync->OnPush({1, 0, 0}, 0);
  ASSERT_TRUE(last.apply.has_value());
  EXPECT_EQ(last.apply->number, 1);
  EXPECT_EQ(last.apply->learning_rate, 1.0);
  EXPECT_THAT(last.answer, ElementsAre(0, 1, 2));
  EXPECT_THAT(sync->Missing(), ElementsAre(0, 1, 2));
}

TEST(Synchronous, FollowsTheScheduleByStep) {
  const auto sync = MakeSynchronous(1, HalvesEachStep());
  EXPECT_EQ(sync->Start(2), 2);
  const Verdict verdict = sync->OnPush({0, 2, 2}, 2);
  EXPECT_EQ(verdict.apply->number, 3);
  EXPECT_EQ(verdict.apply->learning_rate, 0.25);
}

TEST(Synchronous, RefusesRepeatsStaleStepsAndWrongVersions) {
  const auto sync = MakeSynchronous(2, HalvesEachStep());
  sync->Start(5);
  sync->OnPush({0, 5, 5}, 5);
  EXPECT_EQ(CodeOf(*sync, {0, 5, 5}, 5), RefusalCode::kDuplicate);
  EXPECT_EQ(CodeOf(*sync, {1, 4, 5}, 5), RefusalCode::kPrecondition);
  EXPECT_EQ(CodeOf(*sync, {1, 6, 5}, 5), RefusalCode::kPrecondition);
  EXPECT_EQ(CodeOf(*sync, {1, 5, 4}, 5), RefusalCode::kPrecondition);
  EXPECT_THAT(sync->Missing(), ElementsAre(1));  // nothing has changed
  EXPECT_TRUE(sync->OnPush({1, 5, 5}, 5).apply.has_value());
}

TEST(Asynchronous, AppliesAndAnswersEachAtOnce) {
  const auto async = MakeAsynchronous(2, HalvesEachStep());
  EXPECT_EQ(async->Start(0), 0);
  const Verdict verdict = async->OnPush({1, 0, 0}, 0);
  EXPECT_TRUE(verdict.use_gradient);
  EXPECT_EQ(verdict.order, 0);
  EXPECT_THAT(verdict.answer, ElementsAre(1));
  EXPECT_THAT(async->Missing(), IsEmpty());
}

TEST(Asynchronous, CountsNPushesAsOneStepOfTheSchedule) {
  const auto async = MakeAsynchronous(2, HalvesEachStep());
  async->Start(0);
  const std::vector<PushInfo> pushes{{0, 0, 0}, {0, 1, 1}, {1, 0, 0}, {0, 2, 2}, {1, 1, 3}};
  const std::vector<double> rates{1, 1, 0.5, 0.5, 0.25};
  for (std::int64_t version = 0; version < 5; ++version) {
    const Verdict verdict = async->OnPush(pushes[std::size_t(version)], version);
    EXPECT_EQ(verdict.apply->number, version + 1);
    EXPECT_EQ(verdict.apply->learning_rate, rates[std::size_t(version)]);
  }
}

TEST(Asynchronous, ResumesAtTheVersionOfTheStep) {
  const auto async = MakeAsynchronous(3, HalvesEachStep());
  EXPECT_EQ(async->Start(4), 12);
  EXPECT_EQ(async->OnPush({0, 4, 12}, 12).apply->number, 13);
}

TEST(Asynchronous, RefusesRepeatsAndVersionsThatNeverWere) {
  const auto async = MakeAsynchronous(2, HalvesEachStep());
  async->Start(0);
  async->OnPush({0, 0, 0}, 0);
  EXPECT_EQ(CodeOf(*async, {0, 0, 0}, 1), RefusalCode::kPrecondition);
  EXPECT_EQ(CodeOf(*async, {0, 2, 1}, 1), RefusalCode::kPrecondition);
  EXPECT_EQ(CodeOf(*async, {1, 0, 2}, 1), RefusalCode::kPrecondition);
  EXPECT_EQ(CodeOf(*async, {1, 0, -1}, 1), RefusalCode::kPrecondition);
  EXPECT_EQ(async->OnPush({1, 0, 0}, 1).apply->number, 2);
}

}  // namespace
}  // namespace ringside
