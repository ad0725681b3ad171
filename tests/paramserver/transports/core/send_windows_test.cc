#include "ringside/paramserver/transports/core/send_windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <vector>

#include "ringside/paramserver/transports/core/server_assignment.h"
#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr SendWindows::Clock::time_point kNow{};

std::vector<ServerSendLimits> SharesOf(int workers, int dedicated, int colocated,
                                       SendOrder order = SendOrder::kFifo,
                                       LinkScope reach = LinkScope::kInterHost) {
  World world = TestWorld(0, workers, dedicated + colocated);
  world.colocated_servers = colocated;
  const std::vector<TensorSpec> tensors{{"all", 25'000'000}};
  const BucketPlan plan(tensors, {kMiB, kMiB});
  return PlanSendLimits(plan, AssignToServers(plan, world), world, order, reach);
}

TEST(PlanSendLimits, LeavesServersOfOneKindToTcp) {
  for (const auto& shares : {SharesOf(4, 4, 0), SharesOf(4, 0, 4), SharesOf(2, 1, 0)}) {
    for (const ServerSendLimits& share : shares) {
      EXPECT_NEAR(share.plan_fraction, 1.0 / static_cast<double>(shares.size()), 0.02);
      EXPECT_NEAR(static_cast<double>(share.window), 1.0 * kMiB, 0.01 * kMiB);
      EXPECT_NEAR(static_cast<double>(*share.unanswered), 4.0 * kMiB, 0.04 * kMiB);
      EXPECT_FALSE(share.in_turns);
      EXPECT_EQ(share.ahead, std::nullopt);
    }
  }
}

TEST(PlanSendLimits, LetsTwiceAsMuchTravelWithinAHost) {
  const ServerSendLimits share = SharesOf(2, 1, 0, SendOrder::kFifo, LinkScope::kIntraHost)[0];
  EXPECT_NEAR(static_cast<double>(share.window), 2.0 * kMiB, 0.02 * kMiB);
  EXPECT_NEAR(static_cast<double>(*share.unanswered), 8.0 * kMiB, 0.08 * kMiB);
}

TEST(PlanSendLimits, LimitsWhatIsUnansweredWhereAllPushInOneOrder) {
  EXPECT_TRUE(SharesOf(4, 2, 0)[0].unanswered);
  EXPECT_FALSE(SharesOf(4, 2, 0, SendOrder::kPriority)[0].unanswered);
  EXPECT_FALSE(SharesOf(1, 1, 0)[0].unanswered) << "there is nobody else";
}

TEST(PlanSendLimits, GivesSpareServersOfAMixWindowsInProportion) {
  const std::vector<ServerSendLimits> shares = SharesOf(4, 2, 4);
  const ServerSendLimits &spare = shares.front(), &in_worker = shares.back();
  EXPECT_NEAR(spare.plan_fraction, 0.3, 0.02);
  EXPECT_NEAR(in_worker.plan_fraction, 0.1, 0.02);
  EXPECT_NEAR(static_cast<double>(spare.window) / static_cast<double>(in_worker.window),
              spare.plan_fraction / in_worker.plan_fraction, 0.01);
  EXPECT_TRUE(in_worker.in_turns);
  EXPECT_EQ(spare.ahead, std::nullopt);
  EXPECT_NE(in_worker.ahead, std::nullopt);
}

/// What a worker would send, bucket by bucket, to servers that have more than enough waiting.
/// `takes`: the server from which the kernel takes a bucket next, of those with one under way.
class Sender {
 public:
  explicit Sender(const std::vector<ServerSendLimits>& shares)
      : windows(shares), sent(shares.size()) {
    for (std::size_t server = 0; server < shares.size(); ++server) {
      for (int bucket = 0; bucket < 1000; ++bucket) windows.Queue(static_cast<int>(server));
    }
  }

  void BeginAll(std::size_t bytes) {
    for (bool begun = true; begun;) {
      begun = false;
      for (int server = 0; server < static_cast<int>(sent.size()); ++server) {
        if (!windows.MayBegin(server, bytes, kNow)) continue;
        windows.Begin(server, bytes, kNow);
        ++under_way[static_cast<std::size_t>(server)];
        begun = true;
      }
    }
  }

  /// As TCP does: a bucket of each server with one under way.
  void Round(std::size_t bytes) {
    BeginAll(bytes);
    for (std::size_t server = 0; server < sent.size(); ++server) {
      if (under_way[server] == 0) continue;
      --under_way[server];
      windows.Sent(static_cast<int>(server), bytes);
      sent[server] += static_cast<double>(bytes);
    }
  }

  SendWindows windows;
  std::vector<double> sent;
  std::vector<int> under_way = std::vector<int>(sent.size());
};

TEST(SendWindows, SendInProportionAlthoughTcpSharesAlike) {
  Sender sender({{.plan_fraction = 0.6},
                 {.plan_fraction = 0.3, .ahead = 6 * kMiB},
                 {.plan_fraction = 0.1, .ahead = 6 * kMiB}});
  for (int round = 0; round < 300; ++round) sender.Round(kMiB);
  EXPECT_NEAR(sender.sent[0] / sender.sent[1], 2, 0.1);
  EXPECT_NEAR(sender.sent[0] / sender.sent[2], 6, 0.5);
}

TEST(SendWindows, NobodyIsHeldBackWithoutALimit) {
  Sender sender({{.plan_fraction = 0.9}, {.plan_fraction = 0.1}});
  for (int round = 0; round < 100; ++round) sender.Round(kMiB);
  EXPECT_EQ(sender.sent[0], sender.sent[1]);
}

TEST(SendWindows, FillAWindowAndNoMoreThanThat) {
  Sender sender({{.plan_fraction = 1, .window = 8 * kMiB}});
  sender.BeginAll(3 * kMiB);
  EXPECT_THAT(sender.under_way, ElementsAre(2));
}

TEST(SendWindows, OneBucketMayAlwaysBegin) {
  Sender sender({{.plan_fraction = 0.5, .window = kMiB},
                 {.plan_fraction = 0.5, .window = kMiB, .ahead = kMiB}});
  for (int round = 0; round < 5; ++round) sender.Round(16 * kMiB);
  EXPECT_THAT(sender.sent, ElementsAre(80.0 * kMiB, 80.0 * kMiB));
}

TEST(SendWindows, WhoHadNothingToSendHoldsNobodyUp) {
  SendWindows windows({{.plan_fraction = 0.5, .ahead = kMiB}, {.plan_fraction = 0.5}});
  for (int bucket = 0; bucket < 10; ++bucket) {
    windows.Queue(0);
    ASSERT_TRUE(windows.MayBegin(0, kMiB, kNow)) << "alone, after " << bucket;
    windows.Begin(0, kMiB, kNow);
    windows.Sent(0, kMiB);
  }
  windows.Queue(0);
  windows.Queue(1);
  EXPECT_TRUE(windows.MayBegin(0, kMiB, kNow))
      << "the other has just come, and begins where this one is";
  EXPECT_TRUE(windows.MayBegin(1, kMiB, kNow));
}

TEST(SendWindows, AServerWithoutAPartIsReachedAllTheSame) {
  SendWindows windows({{.plan_fraction = 1}, {.plan_fraction = 0, .ahead = kMiB}});
  windows.Queue(1);
  ASSERT_TRUE(windows.MayBegin(1, 0, kNow));
  windows.Begin(1, 0, kNow);
  windows.Sent(1, 0);
  windows.Queue(0);
  EXPECT_TRUE(windows.MayBegin(0, kMiB, kNow));
}

TEST(SendWindows, WhoIsFarAheadOfTheAnswersWaitsForThem) {
  SendWindows windows({{.plan_fraction = 1, .unanswered = 2 * kMiB}});
  const auto at = [](int ms) { return kNow + std::chrono::milliseconds(ms); };
  for (int bucket = 0; bucket < 9; ++bucket) windows.Queue(0);
  ASSERT_TRUE(windows.MayBegin(0, 3 * kMiB, at(0))) << "one bucket always may";
  for (int bucket = 0; bucket < 2; ++bucket) {
    ASSERT_TRUE(windows.MayBegin(0, kMiB, at(bucket)));
    windows.Begin(0, kMiB, at(bucket));
    windows.Sent(0, kMiB);
  }
  EXPECT_FALSE(windows.MayBegin(0, kMiB, at(50)));
  windows.Answered(0, kMiB, at(60));
  EXPECT_TRUE(windows.MayBegin(0, kMiB, at(60)));
  windows.Begin(0, kMiB, at(60));
  EXPECT_FALSE(windows.MayBegin(0, kMiB, at(159)));
}

TEST(SendWindows, AServerThatAnswersNothingHoldsNobodyUp) {
  SendWindows windows({{.plan_fraction = 1, .unanswered = kMiB}});
  const auto at = [](int ms) { return kNow + std::chrono::milliseconds(ms); };
  for (int bucket = 0; bucket < 9; ++bucket) windows.Queue(0);
  windows.Begin(0, kMiB, at(0));
  EXPECT_FALSE(windows.MayBegin(0, kMiB, at(99)));
  for (int bucket = 0; bucket < 5; ++bucket) {
    ASSERT_TRUE(windows.MayBegin(0, kMiB, at(100 + bucket))) << "it waits for somebody else";
    windows.Begin(0, kMiB, at(100 + bucket));
    windows.Sent(0, kMiB);
  }
  windows.Answered(0, kMiB, at(200));
  EXPECT_FALSE(windows.MayBegin(0, kMiB, at(201))) << "it has come, and gets the link";
  for (int bucket = 0; bucket < 5; ++bucket) windows.Answered(0, kMiB, at(210));
  EXPECT_TRUE(windows.MayBegin(0, kMiB, at(211)));
}

TEST(SendWindows, BeginsEveryStepWithAllServersAtOnePlace) {
  std::vector<ServerSendLimits> shares(2);
  shares[0] = {.plan_fraction = 0.8};
  shares[1] = {.plan_fraction = 0.2, .ahead = 2 * kMiB};
  SendWindows windows(shares);
  // Under a codec the second sends a little more than its share of bytes, in each of many steps.
  for (int step = 0; step < 1000; ++step) {
    for (const int server : {0, 1}) windows.Queue(server);
    for (const int server : {0, 1}) {
      ASSERT_TRUE(windows.MayBegin(server, kMiB, kNow)) << "step " << step;
      windows.Begin(server, server == 0 ? 800'000 : 210'000, kNow);
    }
    for (const int server : {0, 1}) windows.Sent(server, server == 0 ? 800'000 : 210'000);
  }
}

}  // namespace
}  // namespace ringside
