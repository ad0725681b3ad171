#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/models/profile/image_profiles.h"
#include "ringside/models/profile/profile_model.h"
#include "ringside/models/profile/profile_table.h"
#include "ringside/models/profile/synthetic_profiles.h"
#include "ringside/models/profile/text_profiles.h"
#include "ringside/models/tables/model_table.h"
#include "tests/models/recording_strategy.h"

namespace ringside {
namespace {

using Kind = RecordingStrategy::Event::Kind;

// A network small enough to look at every float: backward order is last, middle, first.
Profile SmallProfile() {
  return {{{2, {{"first.weight", 20'000}, {"first.bias", 3}}},
           {0, {{"middle.weight", 5}}},
           {4, {{"last.weight", 7}, {"last.bias", 2}}}}};
}

BoundModel Bound(double compute_ms, const BucketPlanOptions& options = kBucketATensor) {
  return {std::make_unique<ProfileModel>(SmallProfile(), compute_ms), options};
}

Batch BatchOf(std::size_t samples, float scale) {
  Batch batch;
  batch.samples = samples;
  batch.global_samples = samples;
  batch.gradient_scale = scale;
  return batch;
}

std::vector<float> Copy(std::span<const float> values) { return {values.begin(), values.end()}; }

std::vector<std::pair<std::string, std::size_t>> NamesAndSizes(
    std::span<const TensorSpec> tensors) {
  std::vector<std::pair<std::string, std::size_t>> pairs;
  for (const TensorSpec& tensor : tensors) pairs.emplace_back(tensor.name, tensor.elements);
  return pairs;
}

TEST(Profiles, HaveThePublishedNumberOfParameters) {
  for (const ProfileEntry& entry : ProfileTable())
    EXPECT_EQ(entry.make().parameters(), entry.parameters) << entry.name;
}

TEST(Profiles, HaveThePublishedNumberOfTensors) {
  const auto tensors = [](const Profile& profile) {
    std::size_t count = 0;
    for (const ProfileLayer& layer : profile.layers) count += layer.tensors.size();
    return count;
  };
  EXPECT_EQ(tensors(ResNet50Profile()), 161U);
  EXPECT_EQ(tensors(Vgg16Profile()), 32U);
  EXPECT_EQ(tensors(MobileNetV2Profile()), 158U);
  EXPECT_EQ(tensors(BertBaseProfile()), 199U);
  EXPECT_EQ(tensors(Gpt2Profile()), 148U);
}

TEST(Profiles, SmallTensorsAreAThousandPages) {
  const Profile profile = SmallTensorsProfile();
  ASSERT_EQ(profile.layers.size(), 1000U);
  for (const ProfileLayer& layer : profile.layers) {
    ASSERT_EQ(layer.tensors.size(), 1U);
    EXPECT_EQ(layer.tensors[0].elements * sizeof(float), 4096U);
  }
}

// Published multiply-accumulates of a 224 x 224 image: torchvision lists 4.09, 15.47 and 0.30
// billion. For BERT-base: 12 x (12 x 768^2 x 512 + 2 x 512^2 x 768) and the pooler.
TEST(Profiles, SpreadThePublishedWork) {
  EXPECT_NEAR(ResNet50Profile().macs(), 4.09e9, 0.01e9);
  EXPECT_NEAR(Vgg16Profile().macs(), 15.47e9, 0.01e9);
  EXPECT_NEAR(MobileNetV2Profile().macs(), 0.30e9, 0.005e9);
  EXPECT_DOUBLE_EQ(BertBaseProfile().macs(),
                   12 * (12 * 589'824.0 * 512 + 2 * 262'144.0 * 768) + 589'824.0);
}

TEST(ProfileModel, OffersTensorsInBackwardOrder) {
  const ProfileModel model(SmallProfile(), 0);
  std::vector<std::string> names;
  for (const TensorSpec& tensor : model.Tensors()) names.push_back(tensor.name);
  EXPECT_THAT(names, testing::ElementsAre("last.bias", "last.weight", "middle.weight", "first.bias",
                                          "first.weight"));
}

class ProfileModelClock : public testing::TestWithParam<double> {};

TEST_P(ProfileModelClock, AwaitsForwardThenSubmitsInPlanOrder) {
  BoundModel bound = Bound(GetParam());
  RecordingStrategy strategy;
  Batch batch = BatchOf(4, 1);
  batch.step = 11;
  EXPECT_EQ(bound.model->ForwardBackward(batch, strategy), 4.0);
  std::vector<RecordingStrategy::Event> expected;
  for (const int bucket : {4, 3, 2, 1, 0}) expected.push_back({Kind::kAwait, bucket, 11});
  for (const int bucket : {0, 1, 2, 3, 4}) expected.push_back({Kind::kSubmit, bucket, 11});
  EXPECT_EQ(strategy.events, expected);
  EXPECT_EQ(EmulatedComputeOf(*bound.model)->step_ms(), GetParam());
}
INSTANTIATE_TEST_SUITE_P(WithAndWithoutWaiting, ProfileModelClock, testing::Values(0.0, 0.5));

TEST(ProfileModel, SubmitsASplitTensorsBucketsInPlanOrder) {
  BoundModel bound = Bound(0, {.target_bytes = 16'384, .first_bytes = 16});
  ASSERT_GT(bound.plan.buckets(), 5);
  RecordingStrategy strategy;
  bound.model->ForwardBackward(BatchOf(1, 1), strategy);
  std::vector<int> in_order(static_cast<std::size_t>(bound.plan.buckets()));
  std::iota(in_order.begin(), in_order.end(), 0);
  EXPECT_EQ(strategy.Buckets(Kind::kSubmit), in_order);
}

TEST(ProfileModel, RefillsGradientsThatAStrategyOverwrote) {
  BoundModel bound = Bound(0);
  RecordingStrategy strategy;
  bound.model->ForwardBackward(BatchOf(4, 0.25F), strategy);
  const std::vector<float> first = Copy(bound.space.grads());
  strategy.on_submit = [](const Bucket& bucket) { std::ranges::fill(bucket.grads, 1e9F); };
  bound.model->ForwardBackward(BatchOf(4, 0.25F), strategy);
  strategy.on_submit = nullptr;
  bound.model->ForwardBackward(BatchOf(4, 0.25F), strategy);
  EXPECT_EQ(Copy(bound.space.grads()), first);
  EXPECT_TRUE(std::ranges::any_of(first, [](float gradient) { return gradient != 0; }));
  EXPECT_TRUE(std::ranges::all_of(first, [](float g) { return std::abs(g) < 0.001F; }));
}

TEST(ProfileModel, WritesNothingAfterSubmission) {
  BoundModel bound = Bound(0);
  RecordingStrategy strategy;
  strategy.on_submit = [](const Bucket& bucket) { std::ranges::fill(bucket.grads, 1e9F); };
  bound.model->ForwardBackward(BatchOf(4, 0.25F), strategy);
  EXPECT_TRUE(std::ranges::all_of(bound.space.grads(), [](float g) { return g == 1e9F; }));
}

// Ranks with 3 and 5 of 8 samples: their gradients sum to that of one rank with all 8, exactly.
TEST(ProfileModel, WeighsGradientsByTheBatch) {
  RecordingStrategy strategy;
  const auto gradient = [&](std::size_t samples) {
    BoundModel bound = Bound(0);
    bound.model->ForwardBackward(BatchOf(samples, 1.0F / 8), strategy);
    return Copy(bound.space.grads());
  };
  const std::vector<float> whole = gradient(8);
  std::vector<float> sum = gradient(3);
  const std::vector<float> rest = gradient(5);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += rest[i];
  EXPECT_EQ(sum, whole);
  EXPECT_THAT(gradient(0), testing::Each(0.0F));
}

TEST(ProfileModel, TensorsDifferAndParametersAreNotZero) {
  BoundModel bound = Bound(0);
  RecordingStrategy strategy;
  bound.model->ForwardBackward(BatchOf(1, 1), strategy);
  const auto head = [&](int tensor) {
    return Copy(bound.space.grads().subspan(bound.plan.tensor_range(tensor).begin, 2));
  };
  EXPECT_NE(head(0), head(1));
  EXPECT_NE(head(1), head(2));
  EXPECT_FALSE(std::ranges::all_of(bound.space.params(), [](float p) { return p == 0; }));
}

// A stretched step lasts its stretched time at least: its clock is absolute. Not before, and the
// step after it is not stretched any more.
TEST(ProfileModel, StretchesItsClockUntilToldOtherwise) {
  BoundModel bound = Bound(2);
  RecordingStrategy strategy;
  const auto step_ms = [&] {
    const auto begin = std::chrono::steady_clock::now();
    bound.model->ForwardBackward(BatchOf(1, 1), strategy);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
        .count();
  };
  EmulatedComputeOf(*bound.model)->SlowDown(10);
  EXPECT_GE(step_ms(), 19.99);  // the parts of the layers are cut to nanoseconds
  EXPECT_EQ(EmulatedComputeOf(*bound.model)->step_ms(), 2);
}

TEST(ProfileModel, RefusesAComputeTimeThatIsNone) {
  EXPECT_THROW(ProfileModel(SmallProfile(), -1), ConfigError);
  EXPECT_THROW(ProfileModel(SmallProfile(), std::nan("")), ConfigError);
}

TEST(ModelTable, MakesEveryModelThatNeedsNeitherLibtorchNorAGpu) {
  std::size_t made = 0;
  for (const ModelEntry& entry : ModelTable()) {
    const ModelTraits& traits = entry.traits;
    if (traits.needs_libtorch || traits.needs_gpu || traits.is_program) continue;
    EXPECT_TRUE(entry.name.starts_with("profile:")) << entry.name;
    const auto model = entry.make({.compute_ms = 5});
    EXPECT_FALSE(model->Tensors().empty()) << entry.name;
    EXPECT_EQ(NamesAndSizes(entry.tensors({})), NamesAndSizes(model->Tensors())) << entry.name;
    ++made;
  }
  EXPECT_EQ(made, ProfileTable().size());
}

}  // namespace
}  // namespace ringside
