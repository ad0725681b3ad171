// Tests networks whose architecture is known: their parameters, and their gradients against
// references of torch::nn.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "ringside/models/tables/model_table.h"
#include "ringside/models/torch/torch_model_table.h"
#include "tests/models/recording_strategy.h"
#include "tests/models/torch/reference_networks.h"
#include "tests/models/torch/torch_testing.h"

namespace ringside {
namespace {

// A model whose architecture is known from elsewhere.
struct KnownCase {
  TorchCase model;
  at::Tensor (*reference)(const at::Tensor&, const NamedTensors&);
  std::size_t parameters;
};

std::ostream& operator<<(std::ostream& out, const KnownCase& test_case) {
  return out << test_case.model;
}

class KnownTorchModels : public testing::TestWithParam<KnownCase> {};

TEST_P(KnownTorchModels, HaveTheParametersOfTheirArchitecture) {
  std::size_t total = 0;
  for (const TensorSpec& tensor : MakeTorchModel(GetParam().model)->Tensors())
    total += tensor.elements;
  EXPECT_EQ(total, GetParam().parameters);
}

TEST_P(KnownTorchModels, GradientsEqualThoseOfPlainAutograd) {
  const TestSamples samples(GetParam().model.input, 6, 3);
  const float scale = 1.0F / 8;
  BoundModel bound(MakeTorchModel(GetParam().model), {});
  RecordingStrategy strategy;
  // Runs twice, because the first step must not change the result of the second one.
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
    EXPECT_LT(RelativeDifference(bound.space.grads().subspan(range.begin, range.size()),
                                 {gradient.data_ptr<float>(), range.size()}),
              1e-5)
        << name;
  }
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

std::string CaseName(const testing::TestParamInfo<KnownCase>& instance) {
  std::ostringstream name;
  name << instance.param;
  return name.str();
}

INSTANTIATE_TEST_SUITE_P(All, KnownTorchModels, testing::ValuesIn(KnownCases()), CaseName);

TEST(Mlp, HasTwoHiddenLayersOf2048ByDefault) {
  const auto model = EntryOf(TorchModelTable(), "mlp").make({.input = {1, 28, 28}});
  std::size_t total = 0;
  for (const TensorSpec& tensor : model->Tensors()) total += tensor.elements;
  EXPECT_EQ(total, 785U * 2048 + 2049 * 2048 + 2049 * 10);
  EXPECT_EQ(NamesAndSizes(EntryOf(ModelTable(), "mlp").tensors({.input = {1, 28, 28}})),
            NamesAndSizes(model->Tensors()));
}

TEST(ResNet18, BuffersAreTheRunningStatistics) {
  const SampleShape shape{1, 8, 8};
  BoundModel bound(EntryOf(TorchModelTable(), "resnet18").make({.input = shape}), {});
  constexpr std::size_t kChannels = 64 + 4 * 64 + 5 * (128 + 256 + 512);
  const std::span<float> buffers = bound.model->Buffers();
  ASSERT_EQ(buffers.size(), 2 * kChannels);
  EXPECT_EQ(buffers[0], 0.0F);
  EXPECT_EQ(buffers[64], 1.0F);  // the variances of the first layer follow its means
  const std::vector<float> before = CopyOf(buffers);
  const TestSamples samples(shape, 8, 3);
  const double evaluated = bound.model->Evaluate(samples.All(1)).loss_sum;
  EXPECT_EQ(CopyOf(buffers), before);
  RecordingStrategy strategy;
  bound.model->ForwardBackward(samples.All(1), strategy);
  EXPECT_NE(CopyOf(buffers), before);
  // Evaluation uses the buffers, also after somebody has written them (an average over workers).
  EXPECT_NE(bound.model->Evaluate(samples.All(1)).loss_sum, evaluated);
  std::ranges::copy(before, buffers.begin());
  EXPECT_EQ(bound.model->Evaluate(samples.All(1)).loss_sum, evaluated);
}

// With inputs of 8 x 8 the last stage has one value per channel and sample.
TEST(ResNet18, ABatchOfOneSampleLeavesNoNan) {
  const SampleShape shape{1, 8, 8};
  BoundModel bound(EntryOf(TorchModelTable(), "resnet18").make({.input = shape}), {});
  RecordingStrategy strategy;
  const TestSamples samples(shape, 1, 3);
  EXPECT_TRUE(std::isfinite(bound.model->ForwardBackward(samples.All(1), strategy)));
  const auto finite = [](float value) { return std::isfinite(value); };
  EXPECT_TRUE(std::ranges::all_of(bound.model->Buffers(), finite));
  EXPECT_TRUE(std::ranges::all_of(bound.space.grads(), finite));
}

}  // namespace
}  // namespace ringside
