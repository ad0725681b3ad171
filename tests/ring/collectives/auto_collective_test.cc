// Tests what `auto` decides for given measurements, and that all ranks decide alike.
#include "ringside/ring/collectives/auto_collective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/common/codec/codec_table.h"
#include "ringside/common/core/bucket.h"
#include "ringside/ring/collectives/codec_collective.h"
#include "ringside/ring/collectives/collective_table.h"
#include "ringside/ring/collectives/cost_table.h"
#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

using testing::HasSubstr;

CostTable TwoWays() {
  CostTable table({"quick start", "fast wire"});
  table.Add(1000, {1.0, 3.0});
  table.Add(3000, {5.0, 4.0});
  return table;
}

TEST(CostTableTest, InterpolatesBetweenSizesAndGoesOnInProportion) {
  const CostTable table = TwoWays();
  EXPECT_DOUBLE_EQ(table.Seconds(0, 2000), 3.0);
  EXPECT_DOUBLE_EQ(table.Seconds(1, 2500), 3.75);
  EXPECT_DOUBLE_EQ(table.Seconds(0, 1), 1.0);
  EXPECT_DOUBLE_EQ(table.Seconds(1, 6000), 8.0);
}

TEST(CostTableTest, TheCheapestChangesWhereTheLinesCross) {
  const CostTable table = TwoWays();
  EXPECT_EQ(table.Cheapest(0), 0U);
  EXPECT_EQ(table.Cheapest(2300), 0U);
  EXPECT_EQ(table.Cheapest(2400), 1U);
  EXPECT_EQ(table.Cheapest(1'000'000), 1U);
}

TEST(CostTableTest, OfEqualsTheFirstIsTaken) {
  CostTable table({"a", "b"});
  table.Add(8, {1.0, 1.0});
  EXPECT_EQ(table.Cheapest(8), 0U);
}

TEST(CostTableTest, RefusesARowOutOfPlace) {
  CostTable table = TwoWays();
  EXPECT_THROW(table.Add(3000, {1.0, 1.0}), InternalError);
  EXPECT_THROW(table.Add(4000, {1.0}), InternalError);
}

TEST(CostTableTest, SaysWhatItTakesAndWhatTheOthersCost) {
  CostTable table({"ring", "tree"});
  table.Add(4096, {60e-6, 40e-6});
  table.Add(4 << 20, {2e-3, 3e-3});
  EXPECT_EQ(table.Describe(), "4 KiB: tree 40 us (ring 60); 4.0 MiB: ring 2000 us (tree 3000)");
}

TEST(AutoCollectiveTest, LeavesOutWhatCannotEncodeAndSumsRight) {
  constexpr int kWorld = 3;
  const BucketPlan plan(std::vector<TensorSpec>{{"a", 20'000}},
                        {.target_bytes = 1 << 20, .first_bytes = 4096});
  InProcessStore store;
  const CommOptions comm{.address = "127.0.0.1", .token = "secret"};
  StrategyOptions options;
  ParseCodec("int8", BuiltinCodecs(), options.codec);
  std::vector<std::vector<float>> sums(kWorld);
  RunRanks(kWorld, [&](int rank) {
    const World world = TestWorld(rank, kWorld);
    const FlatSpace space(plan.elements());
    Recorder recorder(1);
    Timeline timeline;
    const auto collective =
        MakeSum(AutoCollectiveEntry(), {world, store, comm, options, "auto"}, recorder, timeline);
    collective->Prepare(space, plan);
    EXPECT_THAT(collective->Notes(), HasSubstr("halving-doubling"));
    EXPECT_THAT(collective->Notes(), testing::Not(HasSubstr("recursive-doubling")));
    std::ranges::fill(space.grads(), static_cast<float>(rank + 1));
    for (int b = 0; b < plan.buckets(); ++b) {
      const Bucket bucket = MakeBucket(space, plan, b, 0);
      collective->AllReduceSum({bucket.grads, bucket.offset, b, 0});
    }
    sums[static_cast<std::size_t>(rank)].assign(space.grads().begin(), space.grads().end());
    for (const float value : space.grads()) ASSERT_NEAR(value, 6.0F, 0.2F);
    collective->AllGather({});
  });
  EXPECT_THAT(sums, testing::Each(sums[0]));
}

struct Setting {
  std::array<const char*, 4> hosts;
  const char* more;  // besides Gloo's algorithms
};
void PrintTo(const Setting& setting, std::ostream* out) {
  for (const char* host : setting.hosts) *out << host;
}

class AutoCollectiveWaysTest : public testing::TestWithParam<Setting> {};

INSTANTIATE_TEST_SUITE_P(Topologies, AutoCollectiveWaysTest,
                         testing::Values(Setting{{"a", "a", "a", "a"}, "shm"},
                                         Setting{{"a", "a", "b", "b"}, "hierarchical"},
                                         Setting{{"a", "b", "c", "d"}, nullptr}));

TEST_P(AutoCollectiveWaysTest, AllRanksDecideAlikeAndSumRight) {
  constexpr int kWorld = 4;
  const std::vector<TensorSpec> tensors{{"a", 300'000}};
  const BucketPlan plan(tensors, {.target_bytes = 1 << 20, .first_bytes = 4096});
  InProcessStore store;
  const CommOptions comm{.address = "127.0.0.1", .token = "secret"};
  const StrategyOptions options;
  std::vector<std::string> notes(kWorld);
  RunRanks(kWorld, [&](int rank) {
    World world = TestWorld(rank, kWorld);
    world.host = GetParam().hosts[static_cast<std::size_t>(rank)];
    const FlatSpace space(plan.elements(), "test");
    AutoCollective collective({world, store, comm, options, "auto"});
    collective.Prepare(space, plan);
    notes[static_cast<std::size_t>(rank)] = collective.Notes();
    for (const std::size_t count : {1U, 1000U, 20'000U, 300'000U}) {
      std::vector<float> data(count, static_cast<float>(rank + 1));
      collective.AllReduceSum({data});
      ASSERT_EQ(data, std::vector<float>(count, 10.0F));
    }
    collective.AllGather({});
  });
  EXPECT_THAT(notes[0], HasSubstr("4 KiB: "));
  for (const char* way : {"shm", "hierarchical"}) {
    const bool timed = GetParam().more != nullptr && std::string(way) == GetParam().more;
    EXPECT_EQ(notes[0].find(way) != std::string::npos, timed) << way << ": " << notes[0];
  }
  EXPECT_THAT(notes, testing::Each(notes[0]));
}

}  // namespace
}  // namespace ringside
