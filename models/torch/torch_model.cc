// The backward pass and the hooks.
//
// Every parameter has a post hook on its gradient accumulator. The hook runs once per step, when
// the gradient is final and no earlier node of the backward pass will read the parameter again. A
// linear layer has then already written its gradients to the flat space (flat_linear.h), and
// autograd has undefined ones. For the other layers autograd leaves the gradient in `grad`, and the
// hook copies it once into the flat space. That is one read and one write; accumulating into the
// flat space would take a fill, two reads and a write.
#include "ringside/models/torch/torch_model.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/training/bucket_tracker.h"
#include "ringside/models/torch/layers.h"
#include "ringside/models/torch/network_state.h"
#include "ringside/models/torch/parameter_hooks.h"

namespace ringside {
namespace {

class TorchModel : public Model {
 public:
  TorchModel(const Network& network, const ModelOptions& options)
      : options_(options), network_(MakeLayers(network, state_)), tensors_(state_.Specs()) {
    SetComputeThreads(options.threads);
  }

  std::span<const TensorSpec> Tensors() const override { return tensors_; }
  void Bind(FlatSpace& space, const BucketPlan& plan) override;
  double ForwardBackward(const Batch& batch, Strategy& strategy) override;
  Evaluation Evaluate(const Batch& batch) override;
  std::span<float> Buffers() override { return state_.buffers(); }
  std::optional<DilatedClock::time_point> forward_end() const override { return forward_end_; }

 private:
  struct Tensors4d {
    at::Tensor inputs;
    at::Tensor labels;
  };

  Tensors4d Wrap(const Batch& batch) const;
  void AddHook(int parameter);
  void GradientReady(int parameter);
  double ContributeNothing();
  double Train(const Batch& batch);

  const ModelOptions options_;
  NetworkState state_;
  LayerPtr network_;
  std::vector<TensorSpec> tensors_;
  FlatSpace* space_ = nullptr;
  std::optional<BucketTracker> tracker_;
  std::optional<DilatedClock::time_point> forward_end_;
  ParameterHooks hooks_;
};

void TorchModel::Bind(FlatSpace& space, const BucketPlan& plan) {
  WithTypedErrors([&] {
    space_ = &space;
    tracker_.emplace(space, plan);
    state_.Bind(space, plan, options_.seed);
    for (int i = 0; i < state_.parameters(); ++i) AddHook(i);
  });
}

void TorchModel::AddHook(int parameter) {
  hooks_.Add(state_.value(parameter), [this, parameter] { GradientReady(parameter); });
}

void TorchModel::GradientReady(int parameter) {
  at::Tensor& computed = state_.value(parameter).mutable_grad();
  if (computed.defined()) {
    at::Tensor(state_.grad(parameter)).copy_(computed);
    computed.reset();
  }
  tracker_->TensorReady(state_.flat_index(parameter));
}

TorchModel::Tensors4d TorchModel::Wrap(const Batch& batch) const {
  const auto size = [](std::size_t value) { return static_cast<std::int64_t>(value); };
  const SampleShape& shape = options_.input;
  // Only read from: libtorch has no views of constant memory.
  auto* inputs = const_cast<float*>(batch.inputs.data());
  auto* labels = const_cast<std::int64_t*>(batch.labels.data());
  return {at::from_blob(inputs, {size(batch.samples), size(shape.channels), size(shape.height),
                                 size(shape.width)}),
          at::from_blob(labels, {size(batch.samples)}, at::kLong)};
}

double TorchModel::ForwardBackward(const Batch& batch, Strategy& strategy) {
  tracker_->BeginStep(batch.step, strategy);
  forward_end_.reset();
  if (batch.samples == 0) return ContributeNothing();
  return WithTypedErrors([&] { return Train(batch); });
}

double TorchModel::Train(const Batch& batch) {
  const auto [inputs, labels] = Wrap(batch);
  state_.set_tracker(&*tracker_);
  const at::Tensor logits = network_->Forward(inputs, state_, true);
  state_.set_tracker(nullptr);
  const at::Tensor loss = at::cross_entropy_loss(logits, labels, {}, at::Reduction::Sum);
  const double loss_sum = loss.item<double>();
  forward_end_ = DilatedClock::now();
  torch::autograd::backward({loss}, {at::scalar_tensor(batch.gradient_scale)});
  return loss_sum;
}

double TorchModel::ContributeNothing() {
  tracker_->AwaitAll();
  std::ranges::fill(space_->grads(), 0.0F);
  for (std::size_t i = 0; i < tensors_.size(); ++i) tracker_->TensorReady(static_cast<int>(i));
  return 0;
}

Evaluation TorchModel::Evaluate(const Batch& batch) {
  if (batch.samples == 0) return {};
  return WithTypedErrors([&]() -> Evaluation {
    const at::NoGradGuard no_grad;
    state_.set_tracker(nullptr);
    const auto [inputs, labels] = Wrap(batch);
    const at::Tensor logits = network_->Forward(inputs, state_, false);
    const at::Tensor loss = at::cross_entropy_loss(logits, labels, {}, at::Reduction::Sum);
    const at::Tensor correct = logits.argmax(1).eq(labels).sum();
    return {loss.item<double>(), correct.item<std::int64_t>(),
            static_cast<std::int64_t>(batch.samples)};
  });
}

}  // namespace

std::unique_ptr<Model> MakeTorchModel(const Network& network, const ModelOptions& options) {
  return WithTypedErrors([&] { return std::make_unique<TorchModel>(network, options); });
}

}  // namespace ringside
