// Tests what every model on libtorch must do, each model with several shapes of input.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/common/data/dataset.h"
#include "ringside/models/tables/model_table.h"
#include "ringside/models/torch/torch_model_table.h"
#include "tests/models/recording_strategy.h"
#include "tests/models/torch/torch_testing.h"

namespace ringside {
namespace {

using Kind = RecordingStrategy::Event::Kind;

bool AllEqual(std::span<const float> values, float expected) {
  return std::ranges::all_of(values, [=](float value) { return value == expected; });
}

class TorchModels : public testing::TestWithParam<TorchCase> {};
class TorchModelsWithoutBuffers : public testing::TestWithParam<TorchCase> {};

// The launcher needs this to refuse idle servers before a worker starts.
TEST_P(TorchModels, HaveTheTensorsThatTheTableTellsWithoutLibtorch) {
  const ModelEntry& entry = EntryOf(ModelTable(), GetParam().model);
  EXPECT_EQ(NamesAndSizes(entry.tensors(TorchOptionsOf(GetParam(), 1))),
            NamesAndSizes(MakeTorchModel(GetParam())->Tensors()));
}

TEST_P(TorchModels, FinishTensorsInFlatOrder) {
  BoundModel bound(MakeTorchModel(GetParam()), kBucketATensor);
  const TestSamples samples(GetParam().input, 4, 3);
  RecordingStrategy strategy;
  for (int step = 0; step < 2; ++step) {
    strategy.events.clear();
    bound.model->ForwardBackward(samples.All(1), strategy);
    std::vector<int> in_order(static_cast<std::size_t>(bound.plan.buckets()));
    std::iota(in_order.begin(), in_order.end(), 0);
    EXPECT_EQ(strategy.Buckets(Kind::kSubmit), in_order);
  }
}

TEST_P(TorchModels, AwaitEveryBucketOnceAndAsTheForwardPassReachesIt) {
  BoundModel bound(MakeTorchModel(GetParam()), kBucketATensor);
  const TestSamples samples(GetParam().input, 4, 3);
  RecordingStrategy strategy;
  bound.model->ForwardBackward(samples.All(1), strategy);
  const std::vector<int> awaited = strategy.Buckets(Kind::kAwait);
  ASSERT_EQ(awaited.size(), static_cast<std::size_t>(bound.plan.buckets()));
  // The last tensors of the flat order belong to the first layer; layers have up to two tensors.
  for (std::size_t i = 0; i < awaited.size(); ++i)
    EXPECT_NEAR(awaited[i], static_cast<int>(awaited.size() - 1 - i), 1);
}

// A strategy may write parameters at the last moment, in Await. The model must use these.
TEST_P(TorchModels, ReadParametersOnlyAfterAwaitingThem) {
  const TestSamples samples(GetParam().input, 4, 3);
  RecordingStrategy plain;
  BoundModel expected(MakeTorchModel(GetParam()), kBucketATensor);
  const double expected_loss = expected.model->ForwardBackward(samples.All(1), plain);

  BoundModel bound(MakeTorchModel(GetParam()), kBucketATensor);
  const std::vector<float> right = CopyOf(bound.space.params());
  std::ranges::fill(bound.space.params(), std::nanf(""));
  RecordingStrategy late;
  late.on_await = [&](const Bucket& bucket) {
    const auto& range = bound.plan.range(bucket.index);
    std::copy_n(right.begin() + static_cast<std::ptrdiff_t>(range.begin), range.size(),
                bucket.params.begin());
  };
  EXPECT_EQ(bound.model->ForwardBackward(samples.All(1), late), expected_loss);
  EXPECT_EQ(CopyOf(bound.space.grads()), CopyOf(expected.space.grads()));
}

// A strategy may overwrite parameters and gradient of a bucket once it is submitted.
TEST_P(TorchModels, LeaveABucketAloneOnceItIsSubmitted) {
  const TestSamples samples(GetParam().input, 4, 3);
  RecordingStrategy plain;
  BoundModel expected(MakeTorchModel(GetParam()), kBucketATensor);
  expected.model->ForwardBackward(samples.All(1), plain);

  BoundModel bound(MakeTorchModel(GetParam()), kBucketATensor);
  std::vector<float> submitted(bound.space.size());
  RecordingStrategy greedy;
  greedy.on_submit = [&](const Bucket& bucket) {
    const std::size_t begin = bound.plan.range(bucket.index).begin;
    std::ranges::copy(bucket.grads, submitted.begin() + static_cast<std::ptrdiff_t>(begin));
    std::ranges::fill(bucket.params, std::nanf(""));
    std::ranges::fill(bucket.grads, std::nanf(""));
  };
  bound.model->ForwardBackward(samples.All(1), greedy);
  EXPECT_EQ(submitted, CopyOf(expected.space.grads()));
  EXPECT_TRUE(std::ranges::all_of(bound.space.grads(), [](float g) { return std::isnan(g); }));
}

// A batch that is divided unevenly has the gradient of the whole batch. Batch normalisation is the
// exception: it mixes the samples of each part.
TEST_P(TorchModelsWithoutBuffers, WeightedPartsOfABatchSumToItsGradient) {
  const TestSamples samples(GetParam().input, 9, 3);
  const float scale = 1.0F / 9;
  BoundModel bound(MakeTorchModel(GetParam()), {});
  RecordingStrategy strategy;
  bound.model->ForwardBackward(samples.All(scale), strategy);
  const std::vector<float> whole = CopyOf(bound.space.grads());
  bound.model->ForwardBackward(samples.Slice(0, 7, scale), strategy);
  std::vector<float> sum = CopyOf(bound.space.grads());
  bound.model->ForwardBackward(samples.Slice(7, 2, scale), strategy);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += bound.space.grads()[i];
  EXPECT_LT(RelativeDifference(sum, whole), 1e-6);
}

TEST_P(TorchModels, AnEmptyBatchContributesZerosAndSubmitsEverything) {
  BoundModel bound(MakeTorchModel(GetParam()), kBucketATensor);
  const TestSamples samples(GetParam().input, 4, 3);
  RecordingStrategy strategy;
  bound.model->ForwardBackward(samples.All(1), strategy);
  strategy.events.clear();
  EXPECT_EQ(bound.model->ForwardBackward(samples.Slice(0, 0, 1), strategy), 0);
  EXPECT_TRUE(AllEqual(bound.space.grads(), 0.0F));
  EXPECT_EQ(strategy.Buckets(Kind::kAwait).size(), static_cast<std::size_t>(bound.plan.buckets()));
  EXPECT_EQ(strategy.Buckets(Kind::kSubmit).size(), static_cast<std::size_t>(bound.plan.buckets()));
}

TEST_P(TorchModels, StartFromTheSeedAlone) {
  const auto initial = [&](std::uint64_t seed) {
    BoundModel bound(MakeTorchModel(GetParam(), seed), {});
    return CopyOf(bound.space.params());
  };
  const std::vector<float> first = initial(7);
  at::rand({100});  // moves libtorch's own generator on
  EXPECT_EQ(initial(7), first);
  EXPECT_NE(initial(8), first);
}

TEST_P(TorchModels, EvaluateCountsHitsAndLeavesGradientsAlone) {
  BoundModel bound(MakeTorchModel(GetParam()), {});
  TestSamples samples(GetParam().input, 8, 3);
  std::ranges::fill(bound.space.grads(), 5.0F);
  const Evaluation first = bound.model->Evaluate(samples.All(1));
  EXPECT_EQ(first.samples, 8);
  EXPECT_GT(first.loss_sum, 0);
  EXPECT_TRUE(AllEqual(bound.space.grads(), 5.0F));
  // Every sample has one prediction: over all labels the hits add up to the samples.
  std::int64_t hits = 0;
  for (std::int64_t label = 0; label < 10; ++label) {
    std::ranges::fill(samples.labels, label);
    hits += bound.model->Evaluate(samples.All(1)).correct.value_or(0);
  }
  EXPECT_EQ(hits, 8);
}

// An exception of the strategy inside the backward pass reaches the caller unchanged.
TEST_P(TorchModels, PassOnTheErrorsOfTheStrategy) {
  BoundModel bound(MakeTorchModel(GetParam()), kBucketATensor);
  const TestSamples samples(GetParam().input, 4, 3);
  RecordingStrategy strategy;
  const auto fail = [](const Bucket&) { throw CommError("worker 2", "all-reduce", "gone"); };
  strategy.on_submit = fail;
  EXPECT_THROW(bound.model->ForwardBackward(samples.All(1), strategy), CommError);
  strategy.on_submit = nullptr;
  strategy.on_await = fail;
  EXPECT_THROW(bound.model->ForwardBackward(samples.All(1), strategy), CommError);
}

// Every network of the table, on every shape.
std::vector<TorchCase> Cases() {
  std::vector<TorchCase> cases;
  for (const ModelEntry& entry : TorchModelTable()) {
    if (entry.traits.takes_file) continue;  // tests/python/script_models_test.py has those
    for (const SampleShape& input : {SampleShape{1, 8, 8}, SampleShape{3, 32, 32}})
      cases.push_back({entry.name, input});
  }
  cases.push_back({"cnn", {2, 3, 1}});  // too small for one of its pools
  return cases;
}

// The cases without batch normalisation, which has buffers and mixes the samples of a batch.
std::vector<TorchCase> CasesWithoutBuffers() {
  std::vector<TorchCase> cases = Cases();
  std::erase_if(cases, [](const TorchCase& test_case) {
    return !MakeTorchModel(test_case)->Buffers().empty();
  });
  return cases;
}

std::string CaseName(const testing::TestParamInfo<TorchCase>& instance) {
  std::ostringstream name;
  name << instance.param;
  return name.str();
}

INSTANTIATE_TEST_SUITE_P(All, TorchModels, testing::ValuesIn(Cases()), CaseName);
INSTANTIATE_TEST_SUITE_P(All, TorchModelsWithoutBuffers, testing::ValuesIn(CasesWithoutBuffers()),
                         CaseName);

TEST(TorchModelTable, ListsTheModelsOfTheTableWithoutLibtorch) {
  std::vector<std::string> expected;
  for (const ModelEntry& entry : ModelTable()) {
    if (!entry.traits.needs_libtorch) continue;
    EXPECT_EQ(entry.make, nullptr) << entry.name;
    expected.push_back(entry.name);
  }
  std::vector<std::string> names;
  for (const ModelEntry& entry : TorchModelTable()) {
    EXPECT_TRUE(entry.traits.needs_libtorch && entry.make != nullptr) << entry.name;
    names.push_back(entry.name);
  }
  EXPECT_EQ(names, expected);
}

TEST(TorchModels, RefuseWhatTheyCannotServe) {
  for (const ModelEntry& entry : TorchModelTable())
    EXPECT_THROW(entry.make({.input = {0, 0, 0}, .classes = 1}), ConfigError) << entry.name;
  EXPECT_THROW(EntryOf(TorchModelTable(), "mlp").make({.input = {1, 8, 8}, .widths = {16, 0}}),
               ConfigError);
}

}  // namespace
}  // namespace ringside
