#include "ringside/paramserver/worker/send_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace ringside {
namespace {

using ::testing::ElementsAre;

int Take(SendQueue& queue) {
  const int bucket = queue.next();
  queue.RemoveNext();
  return bucket;
}

std::vector<int> TakeAll(SendQueue& queue) {
  std::vector<int> taken;
  while (!queue.empty()) taken.push_back(Take(queue));
  return taken;
}

TEST(SendQueue, KeepsTheOrderOfTheBackwardPass) {
  SendQueue queue(SendOrder::kFifo);
  for (const int bucket : {2, 0, 3, 1}) queue.Add(bucket);
  EXPECT_THAT(TakeAll(queue), ElementsAre(2, 0, 3, 1));
}

TEST(SendQueue, LetsWhatIsReadFirstOvertakeWhatWaits) {
  SendQueue queue(SendOrder::kPriority);
  queue.Add(0);
  queue.Add(1);
  EXPECT_EQ(Take(queue), 1);
  queue.Add(3);
  queue.Add(2);
  EXPECT_THAT(TakeAll(queue), ElementsAre(3, 2, 0));
}

}  // namespace
}  // namespace ringside
