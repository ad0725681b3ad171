#include "ringside/common/data/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <tuple>
#include <vector>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

using Samples = std::vector<std::size_t>;

void Append(Samples& all, const Samples& more) { all.insert(all.end(), more.begin(), more.end()); }

Samples GlobalBatch(Sampler& sampler, std::int64_t step, int workers) {
  Samples all;
  for (int rank = 0; rank < workers; ++rank) Append(all, sampler.Indices(step, rank, workers));
  return all;
}

class SamplerTest : public ::testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {
 protected:
  const std::size_t samples_ = std::get<0>(GetParam());
  const std::size_t batch_ = std::get<1>(GetParam());
};

TEST_P(SamplerTest, AnEpochIsAPermutation) {
  Sampler sampler(samples_, batch_, 5);
  Samples all;
  for (std::int64_t step = 0; step < sampler.steps_per_epoch(); ++step) {
    Append(all, sampler.Indices(step, 0, 1));
  }
  std::ranges::sort(all);
  Samples expected(samples_);
  std::iota(expected.begin(), expected.end(), std::size_t{0});
  EXPECT_EQ(all, expected);
}

TEST_P(SamplerTest, AnUnchangedOrderDealsTheSameNumbersOfSamples) {
  Sampler shuffled(samples_, batch_, 5);
  Sampler unchanged(samples_, batch_, 5, Sampler::Order::kUnchanged);
  Samples all;
  for (std::int64_t step = 0; step < unchanged.steps_per_epoch(); ++step) {
    for (const int rank : {0, 1, 2}) {
      const Samples indices = unchanged.Indices(step, rank, 3);
      EXPECT_EQ(indices.size(), shuffled.Indices(step, rank, 3).size());
      Append(all, indices);
    }
  }
  Samples expected(samples_);
  std::iota(expected.begin(), expected.end(), std::size_t{0});
  EXPECT_EQ(all, expected);
}

TEST_P(SamplerTest, WorkersTogetherReadTheSameGlobalBatch) {
  Sampler alone(samples_, batch_, 5);
  Sampler dealt(samples_, batch_, 5);
  for (std::int64_t step = 0; step < 2 * alone.steps_per_epoch(); ++step) {
    const Samples expected = alone.Indices(step, 0, 1);
    EXPECT_EQ(expected.size(), alone.GlobalSamples(step));
    for (const int workers : {2, 3, 4, 7}) EXPECT_EQ(GlobalBatch(dealt, step, workers), expected);
  }
}

TEST_P(SamplerTest, SharesDifferByAtMostOneAndFirstRanksHaveMore) {
  Sampler sampler(samples_, batch_, 5);
  for (std::int64_t step = 0; step < sampler.steps_per_epoch(); ++step) {
    const std::size_t total = sampler.GlobalSamples(step);
    for (const std::size_t workers : {2U, 3U, 7U}) {
      for (std::size_t rank = 0; rank < workers; ++rank) {
        const Samples mine =
            sampler.Indices(step, static_cast<int>(rank), static_cast<int>(workers));
        EXPECT_EQ(mine.size(), total / workers + (rank < total % workers ? 1 : 0));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(SamplesAndBatches, SamplerTest,
                         ::testing::Values(std::tuple(1, 1), std::tuple(1, 64), std::tuple(10, 3),
                                           std::tuple(64, 64), std::tuple(65, 64),
                                           std::tuple(1000, 37)));

TEST(SamplerOrderTest, DependsOnSeedAndEpochAlone) {
  Sampler a(100, 100, 1);
  Sampler b(100, 100, 1);
  Sampler other_seed(100, 100, 2);
  const Samples epoch3 = a.Indices(3, 0, 1);
  b.Indices(0, 0, 1);
  b.Indices(9, 0, 1);
  EXPECT_EQ(b.Indices(3, 0, 1), epoch3) << "whatever was asked before";
  EXPECT_NE(a.Indices(4, 0, 1), epoch3);
  EXPECT_NE(other_seed.Indices(3, 0, 1), epoch3);
}

TEST(SamplerOrderTest, GlobalBatchSizeDoesNotChangeTheOrder) {
  Sampler whole(100, 100, 1);
  Sampler small(100, 10, 1);
  Samples all;
  for (std::int64_t step = 0; step < 10; ++step) Append(all, small.Indices(step, 0, 1));
  EXPECT_EQ(all, whole.Indices(0, 0, 1));
}

// Results stay comparable over time only if the order never changes. The values are from an
// independent implementation.
TEST(SamplerOrderTest, NeverChanges) {
  Sampler sampler(8, 8, 1);
  EXPECT_THAT(sampler.Indices(0, 0, 1), ::testing::ElementsAre(4, 1, 7, 5, 3, 0, 6, 2));
}

// Every sample must be able to come first, about equally often: 64 categories, 6400 draws, and the
// 99.99 % point of chi-squared with 63 degrees of freedom is 114.
TEST(SamplerOrderTest, IsUniform) {
  Sampler sampler(64, 64, 3);
  std::vector<double> first(64, 0);
  for (std::int64_t epoch = 0; epoch < 6400; ++epoch) ++first[sampler.Indices(epoch, 0, 1)[0]];
  double chi_squared = 0;
  for (const double count : first) chi_squared += (count - 100) * (count - 100) / 100;
  EXPECT_LT(chi_squared, 114);
}

TEST(SamplerOrderTest, NothingToSampleIsRefused) {
  EXPECT_THROW(Sampler(0, 8, 1), ConfigError);
  EXPECT_THROW(Sampler(8, 0, 1), ConfigError);
}

}  // namespace
}  // namespace ringside
