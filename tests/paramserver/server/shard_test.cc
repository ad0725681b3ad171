#include "ringside/paramserver/server/shard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

constexpr OptimizerOptions kPlainSgd{};

std::unique_ptr<const Payload> Gradient(const std::vector<float>& values) {
  return std::make_unique<OwnedPayload>(values);
}

std::vector<float> Values(const ParameterRef& parameters) {
  return {parameters.values().begin(), parameters.values().end()};
}

std::vector<float> RandomFloats(std::mt19937& random, std::size_t count) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(random) * std::exp2(uniform(random) * 20);
  return values;
}

TEST(Shard, AppliesTheSumOfItsContributions) {
  Shard shard(3, 2, kPlainSgd);
  shard.Load(0, OwnedPayload(std::vector<float>{10, 20, 30}));
  shard.Contribute(0, Gradient({1, 2, 3}));
  shard.Contribute(1, Gradient({4, 5, 6}));
  shard.Apply({1, 2.0});
  EXPECT_EQ(Values(shard.parameters()), (std::vector<float>{0, 6, 12}));
  EXPECT_EQ(shard.version(), 1);
}

TEST(Shard, WithoutAnOptimizerItsParametersAreTheSum) {
  Shard shard(3, 3, std::nullopt);
  EXPECT_EQ(shard.state_per_parameter(), 0);
  shard.Load(0, OwnedPayload(std::vector<float>{10, 20, 30}));
  EXPECT_EQ(Values(shard.parameters()), (std::vector<float>{10, 20, 30}));
  for (int step = 1; step <= 2; ++step) {
    for (const int order : {2, 0, 1}) {
      shard.Contribute(order, Gradient({1.0F * static_cast<float>(step), 2, 3}));
      shard.AccumulateInOrder();
    }
    shard.Apply({step, 2.0});
    EXPECT_EQ(Values(shard.parameters()),
              (std::vector<float>{3.0F * static_cast<float>(step), 6, 9}));
    EXPECT_EQ(shard.version(), step);
  }
}

TEST(Shard, OpensAFreshUpdateAfterApply) {
  Shard shard(1, 3, kPlainSgd);
  for (int step = 0; step < 3; ++step) {
    for (int order : {0, 1, 2}) {
      shard.Contribute(order, Gradient({1}));
      if (order < 2) shard.AccumulateInOrder();
    }
    shard.Apply({step + 1, 1.0});
    EXPECT_EQ(Values(shard.parameters()).front(), -3.0F * static_cast<float>(step + 1));
  }
  EXPECT_EQ(shard.version(), 3);
}

/// The property that makes synchronous runs repeatable: whatever the order of arrival, and whenever
/// what came is folded, the parameters are bitwise those of the sum in rank order.
TEST(Shard, SumsInRankOrderWhateverTheOrderOfArrival) {
  std::mt19937 random(11);
  for (const int workers : {1, 2, 3, 4, 7}) {
    const std::size_t elements = 5000;
    std::vector<std::vector<float>> gradients;
    for (int worker = 0; worker < workers; ++worker) {
      gradients.push_back(RandomFloats(random, elements));
    }
    std::vector<float> sum = gradients[0];
    for (int worker = 1; worker < workers; ++worker) {
      for (std::size_t i = 0; i < elements; ++i) sum[i] += gradients[std::size_t(worker)][i];
    }
    std::vector<float> expected(elements);
    Optimizer::Make(kPlainSgd, elements)->Apply(0, expected, sum, {1, 0.5});
    std::vector<int> arrival(static_cast<std::size_t>(workers));
    std::iota(arrival.begin(), arrival.end(), 0);
    for (int round = 0; round < 20; ++round) {
      std::ranges::shuffle(arrival, random);
      Shard shard(elements, workers, kPlainSgd);
      for (const int worker : arrival) {
        shard.Contribute(worker, Gradient(gradients[std::size_t(worker)]));
        if (random() % 2 == 0) shard.AccumulateInOrder();
      }
      shard.Apply({1, 0.5});
      ASSERT_EQ(Values(shard.parameters()), expected) << workers << " workers, round " << round;
    }
  }
}

TEST(Shard, SumsWhatIsThereWhenSomeNeverCome) {
  Shard shard(1, 4, kPlainSgd);
  shard.Contribute(3, Gradient({4}));
  shard.Contribute(1, Gradient({2}));
  shard.Apply({1, 1.0});
  EXPECT_EQ(Values(shard.parameters()).front(), -6);
}

TEST(Shard, LeavesParametersIntactWhileAReplyHoldsThem) {
  Shard shard(2, 1, kPlainSgd);
  const ParameterRef before = shard.parameters();
  const ParameterRef copy = before;
  shard.Contribute(0, Gradient({1, 1}));
  shard.Apply({1, 1.0});
  EXPECT_EQ(Values(before), (std::vector<float>{0, 0}));
  EXPECT_EQ(Values(copy), (std::vector<float>{0, 0}));
  EXPECT_EQ(Values(shard.parameters()), (std::vector<float>{-1, -1}));
}

TEST(Shard, UpdatesInPlaceWhenNobodyReads) {
  Shard shard(2, 1, kPlainSgd);
  const float* before = shard.parameters().values().data();
  shard.Contribute(0, Gradient({1, 1}));
  shard.Apply({1, 1.0});
  EXPECT_EQ(shard.parameters().values().data(), before);
}

TEST(Shard, NeverCopiesAPayloadToHoldIt) {
  Shard shard(1000, 4, kPlainSgd);
  const std::vector<float> ones(1000, 1);
  for (const int order : {2, 3, 1}) {
    shard.Contribute(order, Gradient(ones));
    shard.AccumulateInOrder();
  }
  EXPECT_EQ(shard.copies().total(), 0U);  // nothing can be summed before order 0 has come
  shard.Contribute(0, Gradient(ones));
  shard.Apply({1, 1.0});
  EXPECT_EQ(shard.copies().assigned, 4000U);
  EXPECT_EQ(shard.copies().added, 3 * 4000U);
}

TEST(Shard, DoesNotCopyALoneGradientBeforeItsTime) {
  Shard shard(1000, 2, kPlainSgd);
  shard.Contribute(0, Gradient(std::vector<float>(1000, 1)));
  shard.AccumulateInOrder();
  EXPECT_EQ(shard.copies().total(), 0U);
}

TEST(Shard, ContinuesFromLoadedStateAndVersion) {
  const OptimizerOptions momentum{.momentum = 0.5};
  Shard shard(2, 1, momentum);
  shard.Load(0, OwnedPayload(std::vector<float>{1, 1}));
  shard.Load(1, OwnedPayload(std::vector<float>{4, 8}));
  shard.SetVersion(17);
  shard.Contribute(0, Gradient({1, 1}));
  shard.Apply({18, 1.0});
  EXPECT_EQ(Values(shard.ReadState(1)), (std::vector<float>{3, 5}));
  EXPECT_EQ(Values(shard.parameters()), (std::vector<float>{-2, -4}));
  EXPECT_EQ(shard.version(), 18);
}

TEST(Shard, RefusesToApplyNothingAndToAddTwice) {
  Shard shard(1, 2, kPlainSgd);
  EXPECT_THROW(shard.Apply({1, 1.0}), InternalError);
  shard.Contribute(0, Gradient({1}));
  EXPECT_THROW(shard.Contribute(0, Gradient({1})), InternalError);
  shard.Contribute(1, Gradient({1}));
  shard.AccumulateInOrder();
  EXPECT_THROW(shard.Contribute(1, Gradient({1})), InternalError);
}

TEST(Shard, MayBeEmpty) {
  Shard shard(0, 1, kPlainSgd);
  shard.Contribute(0, Gradient({}));
  shard.Apply({1, 1.0});
  EXPECT_EQ(shard.version(), 1);
}

}  // namespace
}  // namespace ringside
