#include "ringside/models/profile/profile_model.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/splitmix64.h"

namespace ringside {
namespace {

constexpr std::size_t kPattern = 16'384;  // floats: 64 KiB stay in a core's cache
constexpr std::size_t kTensorStride = 331;

// Integers from -1023 to 1023, times 2^-20: sums over up to 2^13 ranks are exact.
std::vector<float> MakePattern() {
  SplitMix64 random(1);
  std::vector<float> pattern(kPattern);
  for (float& value : pattern) {
    const auto integer = static_cast<std::int32_t>(random.Next() % 2047) - 1023;
    value = std::ldexp(static_cast<float>(integer), -20);
  }
  return pattern;
}

// Fills `out` with copies of `pattern`, beginning at `start` of the pattern.
void FillRepeating(std::span<const float> pattern, std::size_t start, std::span<float> out) {
  while (!out.empty()) {
    const std::size_t count = std::min(out.size(), pattern.size() - start);
    std::copy_n(pattern.data() + start, count, out.data());
    out = out.subspan(count);
    start = 0;
  }
}

std::size_t PatternStart(int tensor) {
  return static_cast<std::size_t>(tensor) * kTensorStride % kPattern;
}

}  // namespace

ProfileModel::ProfileModel(const Profile& profile, double compute_ms)
    : compute_ms_(compute_ms),
      tensors_(TensorsOf(profile)),
      pattern_(MakePattern()),
      weighted_(kPattern, 0.0F) {
  if (!std::isfinite(compute_ms) || compute_ms < 0)
    throw ConfigError("the emulated compute time must be 0 or more milliseconds");
  const double macs = profile.macs();
  for (auto layer = profile.layers.rbegin(); layer != profile.layers.rend(); ++layer)
    AddLayer(*layer, layer->macs / macs);
}

void ProfileModel::AddLayer(const ProfileLayer& layer, double share) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  const auto part = [&](double fraction) {
    return std::chrono::duration_cast<Clock::duration>(
        Milliseconds(compute_ms_ * share * fraction));
  };
  const int first = layers_.empty() ? 0 : layers_.back().end_tensor;
  layers_.push_back(
      {part(1.0 / 3), part(2.0 / 3), first, first + static_cast<int>(layer.tensors.size())});
}

void ProfileModel::Bind(FlatSpace& space, const BucketPlan& plan) {
  space_ = &space;
  plan_ = &plan;
  tracker_ = std::make_unique<BucketTracker>(space, plan);
  FillRepeating(pattern_, 0, space.params());
}

double ProfileModel::ForwardBackward(const Batch& batch, Strategy& strategy) {
  tracker_->BeginStep(batch.step, strategy);
  SetWeight(static_cast<float>(batch.samples) * batch.gradient_scale);
  clock_ = Clock::now();
  Forward();
  forward_end_ = Clock::now();
  Backward();
  return static_cast<double>(batch.samples);
}

void ProfileModel::Forward() {
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
    const Clock::time_point begin = Clock::now();
    for (int tensor = layer->end_tensor - 1; tensor >= layer->first_tensor; --tensor)
      tracker_->AwaitTensor(tensor);
    clock_ += Clock::now() - begin;
    Compute(layer->forward);
  }
}

void ProfileModel::Backward() {
  for (const Layer& layer : layers_) {
    for (int tensor = layer.first_tensor; tensor < layer.end_tensor; ++tensor) FillGradient(tensor);
    Compute(layer.backward);
    for (int tensor = layer.first_tensor; tensor < layer.end_tensor; ++tensor)
      tracker_->TensorReady(tensor);
  }
}

void ProfileModel::Compute(Clock::duration duration) {
  if (compute_ms_ == 0) return;
  clock_ +=
      slowdown_ == 1 ? duration : std::chrono::duration_cast<Clock::duration>(duration * slowdown_);
  DilatedClock::SleepUntil(clock_);
}

void ProfileModel::FillGradient(int tensor) {
  const BucketPlan::Range& range = plan_->tensor_range(tensor);
  FillRepeating(weighted_, PatternStart(tensor),
                space_->grads().subspan(range.begin, range.size()));
}

void ProfileModel::SetWeight(float weight) {
  if (weight == weight_) return;
  weight_ = weight;
  std::ranges::transform(pattern_, weighted_.begin(), [=](float value) { return value * weight; });
}

Evaluation ProfileModel::Evaluate(const Batch& batch) {
  return {static_cast<double>(batch.samples), 0, static_cast<std::int64_t>(batch.samples)};
}

}  // namespace ringside
