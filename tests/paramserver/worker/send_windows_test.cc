#include "ringside/paramserver/worker/send_windows.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace ringside {
namespace {

constexpr std::size_t kSlice = 1000;

/// Windows of one server, with slices of one size.
class OneServer : public ::testing::Test {
 protected:
  bool MayBegin(int position) const { return windows_.MayBegin(0, position, kSlice); }
  void Begin(int position) {
    windows_.Queue(0);
    windows_.Begin(0, position, kSlice);
  }
  void BeginAndSend(int position) {
    Begin(position);
    windows_.Sent(0, kSlice);
  }

  SendWindows windows_{
      {{.share = 1, .unsent = 2 * kSlice, .unanswered = 3 * kSlice, .pulled = 2 * kSlice}}, 16};
};

TEST_F(OneServer, LetsAsMuchWaitAsHasRoom) {
  EXPECT_TRUE(MayBegin(0));
  Begin(0);
  EXPECT_TRUE(MayBegin(1));
  Begin(1);
  EXPECT_FALSE(MayBegin(2)) << "two wait to be sent";
  windows_.Sent(0, kSlice);
  EXPECT_TRUE(MayBegin(2));
}

TEST_F(OneServer, LetsOneSliceOfAnySizeWait) {
  EXPECT_TRUE(windows_.MayBegin(0, 0, 100 * kSlice));
  Begin(1);
  EXPECT_FALSE(windows_.MayBegin(0, 0, 100 * kSlice));
}

TEST_F(OneServer, LimitsWhatIsUnanswered) {
  for (const int position : {0, 1, 2}) BeginAndSend(position);
  EXPECT_FALSE(MayBegin(3));
  windows_.Answered(0, 1);
  EXPECT_TRUE(MayBegin(3));
}

TEST_F(OneServer, LetsASliceLargerThanTheLimitBeginAlone) {
  EXPECT_TRUE(windows_.MayBegin(0, 5, 100 * kSlice));
  BeginAndSend(0);
  EXPECT_FALSE(windows_.MayBegin(0, 5, 100 * kSlice)) << "one before it is unanswered";
}

// Another worker may push in the opposite order. It answers nothing before this slice has gone.
TEST_F(OneServer, NeverHoldsASliceBackForLaterOnes) {
  for (const int position : {5, 6, 7}) BeginAndSend(position);
  EXPECT_FALSE(MayBegin(8));
  for (const int position : {4, 3, 2, 1, 0}) {
    EXPECT_TRUE(MayBegin(position)) << position;
    BeginAndSend(position);
  }
  EXPECT_FALSE(MayBegin(8));
}

TEST_F(OneServer, NeverHoldsBackWhatSendsNoFloats) {
  for (const int position : {0, 1, 2}) BeginAndSend(position);
  EXPECT_TRUE(windows_.MayBegin(0, 3, 0));
  windows_.Queue(0);
  windows_.Begin(0, 3, 0);
  windows_.Sent(0, 0);
  windows_.Answered(0, 3);
  EXPECT_FALSE(MayBegin(4));
}

TEST_F(OneServer, CountsTheAnswersOfPulls) {
  for (const int position : {0, 1}) {
    EXPECT_TRUE(windows_.MayBegin(0, position, 0, kSlice)) << position;
    windows_.Queue(0);
    windows_.Begin(0, position, 0, kSlice);
    windows_.Sent(0, 0);
  }
  EXPECT_FALSE(windows_.MayBegin(0, 3, 0, kSlice)) << "a window of their own";
  EXPECT_TRUE(MayBegin(3)) << "that of pushes has room";
  EXPECT_GT(windows_.Begun(0), 0) << "progress, too";
  windows_.Answered(0, 0);
  EXPECT_TRUE(windows_.MayBegin(0, 3, 0, kSlice));
}

TEST(SendWindows, HaveNoLimitOfAnswersUnlessOneIsSet) {
  SendWindows windows({{.share = 1}}, 100);
  for (int position = 0; position < 100; ++position) {
    ASSERT_TRUE(windows.MayBegin(0, position, kSlice));
    windows.Queue(0);
    windows.Begin(0, position, kSlice);
    windows.Sent(0, kSlice);
  }
}

TEST(SendWindows, MeasureTheProgressOfAServerByItsShare) {
  SendWindows windows({{.share = 0.75}, {.share = 0.25}, {.share = 0}}, 4);
  windows.Queue(0);
  windows.Queue(1);
  windows.Begin(0, 0, 3 * kSlice);
  windows.Begin(1, 1, kSlice);
  EXPECT_DOUBLE_EQ(windows.Begun(0), windows.Begun(1));
  EXPECT_DOUBLE_EQ(windows.Begun(2), 0);
}

TEST(SendWindows, ForgetTheProgressOfTheLastStep) {
  SendWindows windows({{.share = 0.5}, {.share = 0.5}}, 4);
  windows.Queue(0);
  windows.Begin(0, 0, kSlice);
  windows.Queue(1);
  EXPECT_GT(windows.Begun(0), 0) << "a slice is unanswered: the step goes on";
  windows.Begin(1, 1, kSlice);
  for (const int server : {0, 1}) {
    windows.Sent(server, kSlice);
    windows.Answered(server, server);
  }
  EXPECT_GT(windows.Begun(0), 0);
  windows.Queue(1);
  EXPECT_EQ(windows.Begun(0), 0);
}

}  // namespace
}  // namespace ringside
