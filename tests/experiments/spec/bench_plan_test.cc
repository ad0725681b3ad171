#include "ringside/experiments/spec/bench_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;

TEST(BenchSizes, MultiplyUpToTheLargest) {
  EXPECT_THAT(BenchSizes(4096, 65536, 4), ElementsAre(4096, 16384, 65536));
  EXPECT_THAT(BenchSizes(4096, 65535, 4), ElementsAre(4096, 16384));
  EXPECT_THAT(BenchSizes(64, 64, 1), ElementsAre(64));
}

TEST(BenchSizes, AreWholeFloats) { EXPECT_THAT(BenchSizes(7, 30, 2), ElementsAre(4, 12, 28)); }

TEST(BenchSizes, RefuseWhatIsNoSize) {
  EXPECT_THROW(BenchSizes(3, 64, 2), ConfigError);
  EXPECT_THROW(BenchSizes(0, 64, 2), ConfigError);
  EXPECT_THROW(BenchSizes(64, 32, 2), ConfigError);
  EXPECT_THROW(BenchSizes(32, 64, 1), ConfigError);
  EXPECT_THROW(BenchSizes(32, 64, -2), ConfigError);
  EXPECT_THROW(BenchSizes(4, std::int64_t{1} << 40, 2), ConfigError);
}

TEST(BenchPlan, ComesBackFromJson) {
  const BenchPlan plan{.sizes = {4, 16}, .warmup = 0, .iterations = 7, .check = false};
  const auto back = nlohmann::json::parse(nlohmann::json(plan).dump()).get<BenchPlan>();
  EXPECT_EQ(back.sizes, plan.sizes);
  EXPECT_EQ(back.warmup, 0);
  EXPECT_EQ(nlohmann::json(BenchPlan{}).get<BenchPlan>().warmup, std::nullopt) << "until steady";
  EXPECT_EQ(back.iterations, 7);
  EXPECT_FALSE(back.check);
}

}  // namespace
}  // namespace ringside
