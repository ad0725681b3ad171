#include "add_a_collective.inc"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "ringside/common/codec/codec_table.h"
#include "ringside/ring/collectives/link_collective_entry.h"
#include "ringside/ring/strategies/all_reduce_entry.h"
#include "tests/common/numbers.h"
#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

struct Setting {
  std::string name;
  CollectiveEntry collective;
  std::string codec;
  int workers;
};

std::vector<Setting> Settings() {
  std::vector<Setting> settings;
  for (const int workers : {1, 2, 3}) {
    settings.push_back({"through-store", StoreCollectiveEntry(), "fp32", workers});
    for (const char* codec : {"fp32", "fp16"}) {
      settings.push_back({"star", LinkCollectiveEntry(kStarAlgorithm), codec, workers});
    }
  }
  return settings;
}

class AddACollectiveTest : public testing::TestWithParam<Setting> {};

/// Integer-valued gradients and a learning rate that is a power of two: every sum is exact.
TEST_P(AddACollectiveTest, TheStrategyOfAnExampleTrainsLikeOneWorker) {
  constexpr std::int64_t kSteps = 3;
  const int workers = GetParam().workers;
  const StrategyEntry entry = AllReduceEntry(GetParam().collective);
  EXPECT_EQ(entry.name, GetParam().name);
  StrategyOptions options;
  ParseCodec(GetParam().codec, BuiltinCodecs(), options.codec);
  EXPECT_FALSE(entry.check(options, workers, 0));
  const std::vector<TensorSpec> tensors{{"a", 5}, {"b", 1}, {"c", 4}};
  const BucketPlan plan(tensors, {.target_bytes = 16, .first_bytes = 16});
  ASSERT_GT(plan.buckets(), 1);
  InProcessStore store;
  RunRanks(workers, [&](int rank) {
    const World world = TestWorld(rank, workers);
    const CommOptions comm{
        .address = "127.0.0.1", .token = "secret", .timeout = std::chrono::seconds(10)};
    const auto optimizer = Optimizer::Make({}, plan.elements());
    const Schedule schedule({.base = 0.5});
    Recorder recorder(0);
    Timeline timeline;
    const auto strategy =
        entry.make({world, store, comm, *optimizer, schedule, recorder, timeline, options});
    FlatSpace space(plan.elements());
    std::ranges::fill(space.params(), rank == 0 ? 8.0F : -1.0F);  // rank 0's must win

    strategy->Start(space, plan, {});
    for (std::int64_t step = 0; step < kSteps; ++step) {
      for (int b = 0; b < plan.buckets(); ++b) strategy->Await(MakeBucket(space, plan, b, step));
      std::ranges::fill(space.grads(), static_cast<float>(rank + 1));
      for (int b = 0; b < plan.buckets(); ++b) strategy->Submit(MakeBucket(space, plan, b, step));
    }
    for (int b = 0; b < plan.buckets(); ++b) strategy->Await(MakeBucket(space, plan, b, kSteps));
    strategy->Stop();

    const float sum = SumUpTo(workers);
    for (const float value : space.params()) EXPECT_EQ(value, 8.0F - 0.5F * kSteps * sum);
  });
}

INSTANTIATE_TEST_SUITE_P(Examples, AddACollectiveTest, testing::ValuesIn(Settings()));

TEST(AddACollectiveRefusalTest, TheExampleCannotEncodeOnEveryHop) {
  EXPECT_NE(StoreCollectiveEntry().why_not_encoded({}), "");
}

TEST(AddAnAlgorithmTest, TheBoundOfTheExampleIsThatOfItsBusiestLink) {
  const CollectiveEntry entry = LinkCollectiveEntry(kStarAlgorithm);
  const Cost cost = entry.bound({.workers = 4, .bytes = 100, .bytes_per_s = 1000, .latency_s = 1});
  EXPECT_DOUBLE_EQ(cost.seconds, 2 + 0.3);
  EXPECT_DOUBLE_EQ(cost.bytes_sent_per_worker, 150);
  EXPECT_EQ(entry.bound({.workers = 1, .bytes = 100, .bytes_per_s = 1000, .latency_s = 1}).seconds,
            0);
}

}  // namespace
}  // namespace ringside
