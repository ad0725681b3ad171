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

TEST(ActivityBoard, ShowsThePeerWhileTheTrainingThreadWaits) {
  ActivityBoard board;
  const AwaitedPeer peer{AwaitedPeer::Way::kReceive, 7};
  {
    const ScopedPeer waits(&board, peer);
    board.Set({Kind::kCompute, 4, -1});
    EXPECT_EQ(board.Get().activity.peer, AwaitedPeer()) << "it does not wait itself";
    board.Set({Kind::kAwait, 4, 2});
    EXPECT_EQ(board.Get().activity.peer, peer);
    EXPECT_EQ(board.Get().activity.Text(),
              "waits for bucket 2 in step 4 (worker 7 has sent nothing more)");
  }
  EXPECT_EQ(board.Get().activity.peer, AwaitedPeer());
  const ScopedPeer nowhere(nullptr, peer);
}

TEST(Activity, SaysWhatItIs) {
  EXPECT_EQ((Activity{Kind::kAwait, 4, 2}).Text(), "waits for bucket 2 in step 4");
  EXPECT_EQ((Activity{Kind::kCompute, 4, -1}).Text(), "computes step 4");
  EXPECT_EQ((Activity{Kind::kEvaluate, 4, -1}).Text(), "evaluates after 4 steps");
  EXPECT_EQ(Activity{}.Text(), "");
  EXPECT_EQ(Activity{.kind = Kind::kServe}.Text(), "serves");
  const Activity server{Kind::kServe, 4, 2, {AwaitedPeer::Way::kPush, 1}};
  EXPECT_EQ(server.Text(), "waits for pushes of bucket 2 in step 4 (worker 1 has not pushed)");
  EXPECT_TRUE(server.waits_for_others());
  EXPECT_FALSE(Activity{.kind = Kind::kServe}.waits_for_others());
  EXPECT_TRUE((Activity{Kind::kSettle, 4, -1}).waits_for_others());
  EXPECT_FALSE((Activity{Kind::kData, 4, -1}).waits_for_others());
}

}  // namespace
}  // namespace ringside
