// What every model on libtorch must do, for each of them on each shape of input.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ringside/common/core/errors.h"
#include "ringside/common/core/splitmix64.h"
#include "ringside/common/data/dataset.h"
#include "ringside/models/tables/model_table.h"
#include "ringside/models/torch/torch_model_table.h"
#include "tests/models/recording_strategy.h"
#include "tests/models/reference_networks.h"

namespace ringside {
namespace {

using Kind = RecordingStrategy::Event::Kind;

struct Case {
  std::string model;
  SampleShape input;
};

// A model whose architecture is known otherwise.
struct KnownCase {
  Case model;
  at::Tensor (*reference)(const at::Tensor&, const NamedTensors&);
  std::size_t parameters;
};

std::ostream& operator<<(std::ostream& out, const Case& test_case) {
  const SampleShape& shape = test_case.input;
  return out << test_case.model << "_" << shape.channels << "x" << shape.height << "x"
             << shape.width;
}
std::ostream& operator<<(std::ostream& out, const KnownCase& test_case) {
  return out << test_case.model;
}

const ModelEntry& EntryOf(std::span<const ModelEntry> table, const std::string& name) {
  const auto entry = std::ranges::find(table, name, &ModelEntry::name);
  if (entry == table.end()) throw InternalError("no model " + name);
  return *entry;
}

// Samples that own their data.
struct Samples {
  Samples(const SampleShape& shape, std::size_t samples, std::uint64_t seed)
      : inputs(samples * shape.elements()), labels(samples) {
    SplitMix64 random(seed);
    for (float& value : inputs) value = static_cast<float>(random.Below(2001)) / 1000.0F - 1.0F;
    for (std::int64_t& label : labels) label = static_cast<std::int64_t>(random.Below(10));
  }

  Batch Slice(std::size_t begin, std::size_t count, float scale) const {
    const std::size_t elements = inputs.size() / labels.size();
    return {.samples = count,
            .global_samples = labels.size(),
            .gradient_scale = scale,
            .inputs = std::span(inputs).subspan(begin * elements, count * elements),
            .labels = std::span(labels).subspan(begin, count)};
  }
  Batch All(float scale) const { return Slice(0, labels.size(), scale); }

  std::vector<float> inputs;
  std::vector<std::int64_t> labels;
};

ModelOptions OptionsOf(const Case& test_case, std::uint64_t seed) {
  return {.input = test_case.input, .classes = 10, .seed = seed, .widths = {48, 32}};
}

std::unique_ptr<Model> Make(const Case& test_case, std::uint64_t seed = 1) {
  return EntryOf(TorchModelTable(), test_case.model).make(OptionsOf(test_case, seed));
}

std::vector<std::pair<std::string, std::size_t>> NamesAndSizes(
    std::span<const TensorSpec> tensors) {
  std::vector<std::pair<std::string, std::size_t>> pairs;
  for (const TensorSpec& tensor : tensors) pairs.emplace_back(tensor.name, tensor.elements);
  return pairs;
}

std::vector<float> Copy(std::span<const float> values) { return {values.begin(), values.end()}; }

bool AllEqual(std::span<const float> values, float expected) {
  return std::ranges::all_of(values, [=](float value) { return value == expected; });
}

// |a - b| / |b|, Euclidean.
double Difference(std::span<const float> a, std::span<const float> b) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    norm += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(difference / norm);
}

class TorchModels : public testing::TestWithParam<Case> {};
class TorchModelsWithoutBuffers : public testing::TestWithParam<Case> {};
class KnownTorchModels : public testing::TestWithParam<KnownCase> {};

TEST_P(KnownTorchModels, HaveTheParametersOfTheirArchitecture) {
  std::size_t total = 0;
  for (const TensorSpec& tensor : Make(GetParam().model)->Tensors()) total += tensor.elements;
  EXPECT_EQ(total, GetParam().parameters);
}

// What refuses idle servers before a worker starts.
TEST_P(TorchModels, HaveTheTensorsThatTheTableTellsWithoutLibtorch) {
  const ModelEntry& entry = EntryOf(ModelTable(), GetParam().model);
  EXPECT_EQ(NamesAndSizes(entry.tensors(OptionsOf(GetParam(), 1))),
            NamesAndSizes(Make(GetParam())->Tensors()));
}

TEST_P(TorchModels, FinishTensorsInFlatOrder) {
  BoundModel bound(Make(GetParam()), kBucketATensor);
  const Samples samples(GetParam().input, 4, 3);
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
  BoundModel bound(Make(GetParam()), kBucketATensor);
  const Samples samples(GetParam().input, 4, 3);
  RecordingStrategy strategy;
  bound.model->ForwardBackward(samples.All(1), strategy);
  const std::vector<int> awaited = strategy.Buckets(Kind::kAwait);
  ASSERT_EQ(awaited.size(), static_cast<std::size_t>(bound.plan.buckets()));
  // The last tensors of the flat order belong to the first layer; layers have up to two tensors.
  for (std::size_t i = 0; i < awaited.size(); ++i)
    EXPECT_NEAR(awaited[i], static_cast<int>(awaited.size() - 1 - i), 1);
}

// Parameters that arrive only when they are awaited must be the ones that are used.
TEST_P(TorchModels, ReadParametersOnlyAfterAwaitingThem) {
  const Samples samples(GetParam().input, 4, 3);
  RecordingStrategy plain;
  BoundModel expected(Make(GetParam()), kBucketATensor);
  const double expected_loss = expected.model->ForwardBackward(samples.All(1), plain);

  BoundModel bound(Make(GetParam()), kBucketATensor);
  const std::vector<float> right = Copy(bound.space.params());
  std::ranges::fill(bound.space.params(), std::nanf(""));
  RecordingStrategy late;
  late.on_await = [&](const Bucket& bucket) {
    const auto& range = bound.plan.range(bucket.index);
    std::copy_n(right.begin() + static_cast<std::ptrdiff_t>(range.begin), range.size(),
                bucket.params.begin());
  };
  EXPECT_EQ(bound.model->ForwardBackward(samples.All(1), late), expected_loss);
  EXPECT_EQ(Copy(bound.space.grads()), Copy(expected.space.grads()));
}

// A strategy may overwrite parameters and gradient of a bucket from the moment of its submission.
TEST_P(TorchModels, LeaveABucketAloneOnceItIsSubmitted) {
  const Samples samples(GetParam().input, 4, 3);
  RecordingStrategy plain;
  BoundModel expected(Make(GetParam()), kBucketATensor);
  expected.model->ForwardBackward(samples.All(1), plain);

  BoundModel bound(Make(GetParam()), kBucketATensor);
  std::vector<float> submitted(bound.space.size());
  RecordingStrategy greedy;
  greedy.on_submit = [&](const Bucket& bucket) {
    const std::size_t begin = bound.plan.range(bucket.index).begin;
    std::ranges::copy(bucket.grads, submitted.begin() + static_cast<std::ptrdiff_t>(begin));
    std::ranges::fill(bucket.params, std::nanf(""));
    std::ranges::fill(bucket.grads, std::nanf(""));
  };
  bound.model->ForwardBackward(samples.All(1), greedy);
  EXPECT_EQ(submitted, Copy(expected.space.grads()));
  EXPECT_TRUE(std::ranges::all_of(bound.space.grads(), [](float g) { return std::isnan(g); }));
}

TEST_P(KnownTorchModels, GradientsEqualThoseOfPlainAutograd) {
  const Samples samples(GetParam().model.input, 6, 3);
  const float scale = 1.0F / 8;
  BoundModel bound(Make(GetParam().model), {});
  RecordingStrategy strategy;
  // Twice: what is left of a step must not leak into the next.
  bound.model->ForwardBackward(samples.All(1), strategy);
  const double loss = bound.model->ForwardBackward(samples.All(scale), strategy);

  const SampleShape& shape = GetParam().model.input;
  const auto size = [](std::size_t value) { return static_cast<std::int64_t>(value); };
  const at::Tensor x = at::tensor(samples.inputs)
                           .view({-1, size(shape.channels), size(shape.height), size(shape.width)});
  NamedTensors reference = CopyParameters(*bound.model, bound.space, bound.plan);
  const at::Tensor reference_loss = at::cross_entropy_loss(
      GetParam().reference(x, reference), at::tensor(samples.labels), {}, at::Reduction::Sum);
  (reference_loss * scale).backward();

  EXPECT_NEAR(loss, reference_loss.item<double>(), 1e-6 * std::abs(loss));
  for (int i = 0; i < bound.plan.tensors(); ++i) {
    const auto& range = bound.plan.tensor_range(i);
    const std::string& name = bound.model->Tensors()[static_cast<std::size_t>(i)].name;
    const at::Tensor gradient = reference[name].grad().contiguous();
    EXPECT_LT(Difference(bound.space.grads().subspan(range.begin, range.size()),
                         {gradient.data_ptr<float>(), range.size()}),
              1e-5)
        << name;
  }
}

// The gradient of a batch dealt out unevenly is that of the whole batch. Batch normalisation is the
// exception: it mixes the samples of a rank's own batch.
TEST_P(TorchModelsWithoutBuffers, WeightedPartsOfABatchSumToItsGradient) {
  const Samples samples(GetParam().input, 9, 3);
  const float scale = 1.0F / 9;
  BoundModel bound(Make(GetParam()), {});
  RecordingStrategy strategy;
  bound.model->ForwardBackward(samples.All(scale), strategy);
  const std::vector<float> whole = Copy(bound.space.grads());
  bound.model->ForwardBackward(samples.Slice(0, 7, scale), strategy);
  std::vector<float> sum = Copy(bound.space.grads());
  bound.model->ForwardBackward(samples.Slice(7, 2, scale), strategy);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += bound.space.grads()[i];
  EXPECT_LT(Difference(sum, whole), 1e-6);
}

TEST_P(TorchModels, AnEmptyBatchContributesZerosAndSubmitsEverything) {
  BoundModel bound(Make(GetParam()), kBucketATensor);
  const Samples samples(GetParam().input, 4, 3);
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
    BoundModel bound(Make(GetParam(), seed), {});
    return Copy(bound.space.params());
  };
  const std::vector<float> first = initial(7);
  at::rand({100});  // moves libtorch's own generator on
  EXPECT_EQ(initial(7), first);
  EXPECT_NE(initial(8), first);
}

TEST_P(TorchModels, EvaluateCountsHitsAndLeavesGradientsAlone) {
  BoundModel bound(Make(GetParam()), {});
  Samples samples(GetParam().input, 8, 3);
  std::ranges::fill(bound.space.grads(), 5.0F);
  const Evaluation first = bound.model->Evaluate(samples.All(1));
  EXPECT_EQ(first.samples, 8);
  EXPECT_GT(first.loss_sum, 0);
  EXPECT_TRUE(AllEqual(bound.space.grads(), 5.0F));
  // Every sample has one prediction: over all labels the hits add up to the samples.
  std::int64_t hits = 0;
  for (std::int64_t label = 0; label < 10; ++label) {
    std::ranges::fill(samples.labels, label);
    hits += bound.model->Evaluate(samples.All(1)).correct;
  }
  EXPECT_EQ(hits, 8);
}

// What a strategy throws inside the backward pass comes out as it was thrown.
TEST_P(TorchModels, PassOnTheErrorsOfTheStrategy) {
  BoundModel bound(Make(GetParam()), kBucketATensor);
  const Samples samples(GetParam().input, 4, 3);
  RecordingStrategy strategy;
  const auto fail = [](const Bucket&) { throw CommError("worker 2", "all-reduce", "gone"); };
  strategy.on_submit = fail;
  EXPECT_THROW(bound.model->ForwardBackward(samples.All(1), strategy), CommError);
  strategy.on_submit = nullptr;
  strategy.on_await = fail;
  EXPECT_THROW(bound.model->ForwardBackward(samples.All(1), strategy), CommError);
}

// Every network of the table, on every shape.
std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const ModelEntry& entry : TorchModelTable()) {
    for (const SampleShape& input : {SampleShape{1, 8, 8}, SampleShape{3, 32, 32}})
      cases.push_back({entry.name, input});
  }
  cases.push_back({"cnn", {2, 3, 1}});  // too small for one of its pools
  return cases;
}

// Those whose samples know nothing of each other: batch normalisation has buffers.
std::vector<Case> CasesWithoutBuffers() {
  std::vector<Case> cases = Cases();
  std::erase_if(cases, [](const Case& test_case) { return !Make(test_case)->Buffers().empty(); });
  return cases;
}

std::vector<KnownCase> KnownCases() {
  return {
      {{"mlp", {1, 8, 8}}, ReferenceMlp, 65 * 48 + 49 * 32 + 33 * 10},
      {{"mlp", {3, 32, 32}}, ReferenceMlp, 3073 * 48 + 49 * 32 + 33 * 10},
      {{"cnn", {1, 8, 8}}, ReferenceCnn, 640 + 73856 + 513 * 512 + 5130},
      {{"cnn", {1, 28, 28}}, ReferenceCnn, 640 + 73856 + 6273 * 512 + 5130},
      {{"cnn", {3, 32, 32}}, ReferenceCnn, 1792 + 73856 + 8193 * 512 + 5130},
      {{"cnn", {2, 3, 1}}, ReferenceCnn, 1216 + 73856 + 385 * 512 + 5130},
      {{"resnet18", {3, 32, 32}}, ReferenceResNet18, 11'173'962},
      {{"resnet18", {1, 8, 8}}, ReferenceResNet18, 11'172'810},
  };
}

template <typename CaseType>
std::string CaseName(const testing::TestParamInfo<CaseType>& instance) {
  std::ostringstream name;
  name << instance.param;
  return name.str();
}

INSTANTIATE_TEST_SUITE_P(All, TorchModels, testing::ValuesIn(Cases()), CaseName<Case>);
INSTANTIATE_TEST_SUITE_P(All, TorchModelsWithoutBuffers, testing::ValuesIn(CasesWithoutBuffers()),
                         CaseName<Case>);
INSTANTIATE_TEST_SUITE_P(All, KnownTorchModels, testing::ValuesIn(KnownCases()),
                         CaseName<KnownCase>);

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

TEST(Mlp, HasTwoHiddenLayersOf2048ByDefault) {
  const auto model = EntryOf(TorchModelTable(), "mlp").make({.input = {1, 28, 28}});
  std::size_t total = 0;
  for (const TensorSpec& tensor : model->Tensors()) total += tensor.elements;
  EXPECT_EQ(total, 785U * 2048 + 2049 * 2048 + 2049 * 10);
  EXPECT_EQ(NamesAndSizes(EntryOf(ModelTable(), "mlp").tensors({.input = {1, 28, 28}})),
            NamesAndSizes(model->Tensors()));
}

TEST(TorchModels, RefuseWhatTheyCannotServe) {
  for (const ModelEntry& entry : TorchModelTable())
    EXPECT_THROW(entry.make({.input = {0, 0, 0}, .classes = 1}), ConfigError) << entry.name;
  EXPECT_THROW(EntryOf(TorchModelTable(), "mlp").make({.input = {1, 8, 8}, .widths = {16, 0}}),
               ConfigError);
}

TEST(ResNet18, BuffersAreTheRunningStatistics) {
  const SampleShape shape{1, 8, 8};
  BoundModel bound(EntryOf(TorchModelTable(), "resnet18").make({.input = shape}), {});
  constexpr std::size_t kChannels = 64 + 4 * 64 + 5 * (128 + 256 + 512);
  const std::span<float> buffers = bound.model->Buffers();
  ASSERT_EQ(buffers.size(), 2 * kChannels);
  EXPECT_EQ(buffers[0], 0.0F);
  EXPECT_EQ(buffers[64], 1.0F);  // the variances of the first layer follow its means
  const std::vector<float> before = Copy(buffers);
  const Samples samples(shape, 8, 3);
  const double evaluated = bound.model->Evaluate(samples.All(1)).loss_sum;
  EXPECT_EQ(Copy(buffers), before);
  RecordingStrategy strategy;
  bound.model->ForwardBackward(samples.All(1), strategy);
  EXPECT_NE(Copy(buffers), before);
  // Evaluation reads them, and what is written there (an average over workers) counts.
  EXPECT_NE(bound.model->Evaluate(samples.All(1)).loss_sum, evaluated);
  std::ranges::copy(before, buffers.begin());
  EXPECT_EQ(bound.model->Evaluate(samples.All(1)).loss_sum, evaluated);
}

// On 8 x 8 inputs the last stage sees one value a channel and sample.
TEST(ResNet18, ABatchOfOneSampleLeavesNoNan) {
  const SampleShape shape{1, 8, 8};
  BoundModel bound(EntryOf(TorchModelTable(), "resnet18").make({.input = shape}), {});
  RecordingStrategy strategy;
  const Samples samples(shape, 1, 3);
  EXPECT_TRUE(std::isfinite(bound.model->ForwardBackward(samples.All(1), strategy)));
  const auto finite = [](float value) { return std::isfinite(value); };
  EXPECT_TRUE(std::ranges::all_of(bound.model->Buffers(), finite));
  EXPECT_TRUE(std::ranges::all_of(bound.space.grads(), finite));
}

}  // namespace
}  // namespace ringside
