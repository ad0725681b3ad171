#include "ringside/common/measure/activity.h"

#include <gtest/gtest.h>

#include <thread>

namespace ringside {
namespace {

using Kind = Activity::Kind;

TEST(ActivityBoard, ShowsWhatWasWrittenLastAndSinceWhen) {
  ActivityBoard board;
  EXPECT_EQ(board.Get().activity.kind, Kind::kUnknown);
  const auto before = ActivityBoard::Clock::now();
  std::jthread([&] { board.Set({Kind::kAwait, 4, 2}); }).join();
  const ActivityBoard::Entry entry = board.Get();
  EXPECT_EQ(entry.activity, (Activity{Kind::kAwait, 4, 2}));
  EXPECT_GE(entry.since, before);
  EXPECT_LE(entry.since, ActivityBoard::Clock::now());
}

TEST(Activity, SaysWhatItIs) {
  EXPECT_EQ((Activity{Kind::kAwait, 4, 2}).Text(), "waits for bucket 2 in step 4");
  EXPECT_EQ((Activity{Kind::kCompute, 4, -1}).Text(), "computes step 4");
  EXPECT_EQ((Activity{Kind::kEvaluate, 4, -1}).Text(), "evaluates after 4 steps");
  EXPECT_EQ(Activity{}.Text(), "");
  EXPECT_TRUE((Activity{Kind::kSettle, 4, -1}).waits_for_others());
  EXPECT_FALSE((Activity{Kind::kData, 4, -1}).waits_for_others());
}

}  // namespace
}  // namespace ringside
