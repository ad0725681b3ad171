#include "ringside/models/torch/script_model.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/script.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/training/bucket_tracker.h"
#include "ringside/models/torch/parameter_hooks.h"

namespace ringside {
namespace {

torch::jit::Module LoadModule(const std::string& path) {
  try {
    return torch::jit::load(path);
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    throw ConfigError("model: libtorch cannot read '" + path +
                      "' as a TorchScript module: " + text.substr(0, text.find('\n')) +
                      "; save it with torch.jit.save(torch.jit.script(net), FILE)");
  }
}

Loss ChosenLoss(const ModelOptions& options) {
  const bool numbers = options.targets > 0;
  if (options.loss == Loss::kAuto) return numbers ? Loss::kMse : Loss::kCrossEntropy;
  const bool fits = numbers == (options.loss != Loss::kCrossEntropy);
  if (fits) return options.loss;
  throw ConfigError(numbers ? "loss: cross-entropy needs classes, and the answers are numbers"
                            : "loss: mse and mae need numbers, and the answers are classes");
}

std::int64_t Signed(std::size_t value) { return static_cast<std::int64_t>(value); }

class ScriptModel : public Model {
 public:
  explicit ScriptModel(const ModelOptions& options)
      : options_(options), loss_(ChosenLoss(options)), module_(LoadModule(options.file)) {
    SetComputeThreads(options.threads);
    CollectParameters();
    CollectBuffers();
  }

  std::span<const TensorSpec> Tensors() const override { return tensors_; }
  void Bind(FlatSpace& space, const BucketPlan& plan) override;
  double ForwardBackward(const Batch& batch, Strategy& strategy) override;
  Evaluation Evaluate(const Batch& batch) override;
  std::span<float> Buffers() override { return buffers_; }
  std::optional<DilatedClock::time_point> forward_end() const override { return forward_end_; }

 private:
  void CollectParameters();
  void CollectBuffers();
  void BindTensor(FlatSpace& space, const BucketPlan::Range& range, std::size_t tensor);
  void GradientReady(std::size_t tensor);
  void ContributeRest();
  at::Tensor Inputs(const Batch& batch) const;
  at::Tensor Forward(const Batch& batch);
  /// The sum over the samples.
  at::Tensor LossOf(const at::Tensor& output, const Batch& batch) const;
  at::Tensor Targets(const at::Tensor& output, const Batch& batch) const;
  double Train(const Batch& batch);

  const ModelOptions options_;
  const Loss loss_;
  torch::jit::Module module_;
  std::vector<at::Tensor> parameters_;  // in flat order
  std::vector<at::Tensor> grads_;       // views of the flat space, in flat order
  std::vector<TensorSpec> tensors_;
  std::vector<float> buffers_;  // of all buffers, which are views
  std::optional<BucketTracker> tracker_;
  std::vector<bool> ready_;  // by tensor, in this step
  std::optional<DilatedClock::time_point> forward_end_;
  ParameterHooks hooks_;
};

// The backward pass finishes the parameters in about the reverse order.
void ScriptModel::CollectParameters() {
  for (const auto& parameter : module_.named_parameters()) {
    if (!parameter.value.requires_grad()) continue;
    if (parameter.value.scalar_type() != at::kFloat) {
      throw ConfigError("model: parameter '" + parameter.name + "' is " +
                        c10::toString(parameter.value.scalar_type()) + "; float32 is trained");
    }
    parameters_.push_back(parameter.value);
    tensors_.push_back({parameter.name, static_cast<std::size_t>(parameter.value.numel()),
                        parameter.value.sizes().vec()});
  }
  if (parameters_.empty()) {
    throw ConfigError("model: '" + options_.file + "' has no parameter that is trained");
  }
  std::ranges::reverse(parameters_);
  std::ranges::reverse(tensors_);
}

void ScriptModel::CollectBuffers() {
  std::vector<at::Tensor> floats;
  std::size_t elements = 0;
  for (const at::Tensor& buffer : module_.buffers()) {
    if (buffer.scalar_type() != at::kFloat) continue;
    floats.push_back(buffer);
    elements += static_cast<std::size_t>(buffer.numel());
  }
  buffers_.resize(elements);
  float* next = buffers_.data();
  for (at::Tensor& buffer : floats) {
    const at::Tensor view = at::from_blob(next, buffer.sizes());
    view.copy_(buffer);
    buffer.set_data(view);
    next += buffer.numel();
  }
}

void ScriptModel::Bind(FlatSpace& space, const BucketPlan& plan) {
  WithTypedErrors([&] {
    tracker_.emplace(space, plan);
    for (std::size_t tensor = 0; tensor < parameters_.size(); ++tensor) {
      BindTensor(space, plan.tensor_range(static_cast<int>(tensor)), tensor);
    }
  });
}

void ScriptModel::BindTensor(FlatSpace& space, const BucketPlan::Range& range, std::size_t tensor) {
  at::Tensor& parameter = parameters_[tensor];
  const at::Tensor view = at::from_blob(space.params().data() + range.begin, parameter.sizes());
  view.copy_(parameter.detach());
  parameter.set_data(view);
  grads_.push_back(at::from_blob(space.grads().data() + range.begin, parameter.sizes()));
  hooks_.Add(parameter, [this, tensor] { GradientReady(tensor); });
}

void ScriptModel::GradientReady(std::size_t tensor) {
  at::Tensor& computed = parameters_[tensor].mutable_grad();
  if (!computed.defined()) return;
  grads_[tensor].copy_(computed);
  computed.reset();
  ready_[tensor] = true;
  tracker_->TensorReady(static_cast<int>(tensor));
}

/// Of tensors that the backward pass did not reach.
void ScriptModel::ContributeRest() {
  for (std::size_t tensor = 0; tensor < ready_.size(); ++tensor) {
    if (ready_[tensor]) continue;
    grads_[tensor].zero_();
    tracker_->TensorReady(static_cast<int>(tensor));
  }
}

at::Tensor ScriptModel::Inputs(const Batch& batch) const {
  const SampleShape& shape = options_.input;
  std::vector<std::int64_t> sizes{Signed(batch.samples)};
  if (shape.dimensions > 2) sizes.push_back(Signed(shape.channels));
  if (shape.dimensions > 1) sizes.push_back(Signed(shape.height));
  if (shape.dimensions > 0) sizes.push_back(Signed(shape.width));
  // Only read from: libtorch has no views of constant memory.
  if (options_.integer_inputs) {
    return at::from_blob(const_cast<std::int64_t*>(batch.integers.data()), sizes, at::kLong);
  }
  return at::from_blob(const_cast<float*>(batch.inputs.data()), sizes);
}

at::Tensor ScriptModel::Forward(const Batch& batch) {
  c10::IValue output;
  try {
    output = module_.forward({Inputs(batch)});
  } catch (const c10::Error& error) {
    throw ConfigError("model: the forward method of '" + options_.file +
                      "' failed: " + error.what_without_backtrace());
  } catch (const std::runtime_error& error) {  // of the interpreter of TorchScript
    throw ConfigError("model: the forward method of '" + options_.file +
                      "' failed: " + error.what());
  }
  if (!output.isTensor()) {
    throw ConfigError("model: the forward method of '" + options_.file + "' returns no tensor");
  }
  at::Tensor tensor = output.toTensor();
  const std::int64_t columns =
      options_.targets > 0 ? Signed(options_.targets) : std::int64_t{options_.classes};
  const std::int64_t samples = Signed(batch.samples);
  if (options_.targets == 1 && tensor.dim() == 1) tensor = tensor.unsqueeze(1);
  if (tensor.dim() == 2 && tensor.size(0) == samples &&
      (options_.targets > 0 ? tensor.size(1) == columns : tensor.size(1) >= columns)) {
    return tensor;
  }
  throw ConfigError("model: the forward method of '" + options_.file +
                    "' returns another shape than (samples, " + std::to_string(columns) + ")");
}

at::Tensor ScriptModel::Targets(const at::Tensor& output, const Batch& batch) const {
  return at::from_blob(const_cast<float*>(batch.targets.data()), output.sizes());
}

at::Tensor ScriptModel::LossOf(const at::Tensor& output, const Batch& batch) const {
  if (loss_ == Loss::kCrossEntropy) {
    const at::Tensor labels = at::from_blob(const_cast<std::int64_t*>(batch.labels.data()),
                                            {Signed(batch.samples)}, at::kLong);
    return at::cross_entropy_loss(output, labels, {}, at::Reduction::Sum);
  }
  const at::Tensor targets = Targets(output, batch);
  const at::Tensor sum = loss_ == Loss::kMse ? at::mse_loss(output, targets, at::Reduction::Sum)
                                             : at::l1_loss(output, targets, at::Reduction::Sum);
  return sum / static_cast<double>(options_.targets);
}

double ScriptModel::ForwardBackward(const Batch& batch, Strategy& strategy) {
  tracker_->BeginStep(batch.step, strategy);
  tracker_->AwaitAll();
  ready_.assign(tensors_.size(), false);
  forward_end_.reset();
  return WithTypedErrors([&] {
    const double loss_sum = batch.samples == 0 ? 0 : Train(batch);
    ContributeRest();
    return loss_sum;
  });
}

double ScriptModel::Train(const Batch& batch) {
  module_.train();
  const at::Tensor loss = LossOf(Forward(batch), batch);
  const double loss_sum = loss.item<double>();
  forward_end_ = DilatedClock::now();
  torch::autograd::backward({loss}, {at::scalar_tensor(batch.gradient_scale)});
  return loss_sum;
}

Evaluation ScriptModel::Evaluate(const Batch& batch) {
  if (batch.samples == 0) return {};
  return WithTypedErrors([&] {
    const at::NoGradGuard no_grad;
    module_.eval();
    const at::Tensor output = Forward(batch);
    Evaluation evaluation;
    evaluation.samples = Signed(batch.samples);
    evaluation.loss_sum = LossOf(output, batch).item<double>();
    if (options_.targets == 0) {
      const at::Tensor labels = at::from_blob(const_cast<std::int64_t*>(batch.labels.data()),
                                              {Signed(batch.samples)}, at::kLong);
      evaluation.correct = output.argmax(1).eq(labels).sum().item<std::int64_t>();
    } else {
      const at::Tensor targets = Targets(output, batch);
      const auto count = static_cast<double>(options_.targets);
      evaluation.metric_sums["mse"] =
          at::mse_loss(output, targets, at::Reduction::Sum).item<double>() / count;
      evaluation.metric_sums["mae"] =
          at::l1_loss(output, targets, at::Reduction::Sum).item<double>() / count;
    }
    return evaluation;
  });
}

}  // namespace

std::unique_ptr<Model> MakeScriptModel(const ModelOptions& options) {
  return WithTypedErrors([&] { return std::make_unique<ScriptModel>(options); });
}

}  // namespace ringside
