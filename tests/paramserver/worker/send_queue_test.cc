#include "ringside/paramserver/worker/send_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;

/// Two buckets of two slices and one of a single slice.
SlicePlan Slices() {
  const std::vector<TensorSpec> tensors{{"a", 32}, {"b", 32}, {"c", 8}};
  return {BucketPlan(tensors, {.target_bytes = 0}), TestWorld(0, 2, 2), 16};
}

TEST(SendPositions, FollowThePlan) {
  EXPECT_THAT(SendPositions(Slices(), SendOrder::kFifo), ElementsAre(0, 1, 2, 3, 4));
}

TEST(SendPositions, PutTheBucketThatIsReadFirstInFront) {
  EXPECT_THAT(SendPositions(Slices(), SendOrder::kPriority), ElementsAre(3, 4, 1, 2, 0));
}

TEST(SendQueue, GivesTheLowestPositionOfThoseThatWait) {
  SendQueue queue;
  const auto take = [&] {
    const int position = queue.next();
    queue.RemoveNext();
    return position;
  };
  queue.Add(4);
  queue.Add(2);
  EXPECT_EQ(take(), 2);
  queue.Add(1);
  queue.Add(3);
  EXPECT_EQ(take(), 1);
  EXPECT_EQ(take(), 3);
  EXPECT_EQ(take(), 4);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace ringside
