#include "models/torch/layers.h"

#include <cmath>
#include <utility>

#include "models/torch/flat_linear.h"

namespace ringside {
namespace {

// torch::nn's default: Kaiming-uniform with a = sqrt(5), which is 1 / sqrt(fan-in) for weights, and
// the same bound for biases.
Initial DefaultInitial(std::int64_t fan_in) {
  return {Initial::Kind::kUniform, 1.0 / std::sqrt(static_cast<double>(fan_in))};
}

class Linear : public Layer {
 public:
  Linear(NetworkState& state, const std::string& name, std::int64_t inputs, std::int64_t outputs)
      : bias_(state.AddParameter(name + ".bias", {outputs}, DefaultInitial(inputs))),
        weight_(state.AddParameter(name + ".weight", {outputs, inputs}, DefaultInitial(inputs))) {}

  at::Tensor Forward(const at::Tensor& input, const NetworkState& state, bool) override {
    return FlatLinear(input, state.Read(weight_), state.Read(bias_), state.grad(weight_),
                      state.grad(bias_));
  }

 private:
  int bias_;
  int weight_;
};

class Conv : public Layer {
 public:
  Conv(NetworkState& state, const std::string& name, const ConvOptions& options)
      : options_(options) {
    const std::int64_t fan_in = options.in_channels * options.kernel * options.kernel;
    if (options.bias)
      bias_ = state.AddParameter(name + ".bias", {options.out_channels}, DefaultInitial(fan_in));
    weight_ = state.AddParameter(
        name + ".weight",
        {options.out_channels, options.in_channels, options.kernel, options.kernel},
        DefaultInitial(fan_in));
  }

  at::Tensor Forward(const at::Tensor& input, const NetworkState& state, bool) override {
    const at::Tensor bias = options_.bias ? state.Read(bias_) : at::Tensor();
    return at::conv2d(input, state.Read(weight_), bias, options_.stride, options_.padding);
  }

 private:
  ConvOptions options_;
  int bias_ = -1;
  int weight_ = -1;
};

class BatchNorm : public Layer {
 public:
  BatchNorm(NetworkState& state, const std::string& name, std::int64_t channels)
      : bias_(state.AddParameter(name + ".bias", {channels}, {Initial::Kind::kConstant, 0})),
        weight_(state.AddParameter(name + ".weight", {channels}, {Initial::Kind::kConstant, 1})),
        mean_(state.AddBuffer(static_cast<std::size_t>(channels), 0)),
        variance_(state.AddBuffer(static_cast<std::size_t>(channels), 1)) {}

  at::Tensor Forward(const at::Tensor& input, const NetworkState& state, bool training) override {
    constexpr double kMomentum = 0.1;
    constexpr double kEpsilon = 1e-5;
    constexpr bool kCudnn = true;
    const bool single = input.numel() == input.size(1);
    const bool keep = training && single;
    return at::batch_norm(
        input, state.Read(weight_), state.Read(bias_), keep ? at::Tensor() : state.buffer(mean_),
        keep ? at::Tensor() : state.buffer(variance_), training, kMomentum, kEpsilon, kCudnn);
  }

 private:
  int bias_;
  int weight_;
  int mean_;
  int variance_;
};

// A layer without parameters: `function` is at::Tensor(const at::Tensor&).
template <typename Function>
class Stateless : public Layer {
 public:
  explicit Stateless(Function function) : function_(std::move(function)) {}
  at::Tensor Forward(const at::Tensor& input, const NetworkState&, bool) override {
    return function_(input);
  }

 private:
  Function function_;
};

class Sequential : public Layer {
 public:
  explicit Sequential(std::vector<LayerPtr> layers) : layers_(std::move(layers)) {}
  at::Tensor Forward(const at::Tensor& input, const NetworkState& state, bool training) override {
    at::Tensor value = input;
    for (const LayerPtr& layer : layers_) value = layer->Forward(value, state, training);
    return value;
  }

 private:
  std::vector<LayerPtr> layers_;
};

class Residual : public Layer {
 public:
  Residual(LayerPtr main, LayerPtr shortcut)
      : main_(std::move(main)), shortcut_(std::move(shortcut)) {}
  at::Tensor Forward(const at::Tensor& input, const NetworkState& state, bool training) override {
    at::Tensor sum = main_->Forward(input, state, training);
    sum.add_(shortcut_ ? shortcut_->Forward(input, state, training) : input);
    return at::relu_(sum);
  }

 private:
  LayerPtr main_;
  LayerPtr shortcut_;
};

}  // namespace

LayerPtr MakeLinear(NetworkState& state, const std::string& name, std::int64_t inputs,
                    std::int64_t outputs) {
  return std::make_unique<Linear>(state, name, inputs, outputs);
}

LayerPtr MakeConv(NetworkState& state, const std::string& name, const ConvOptions& options) {
  return std::make_unique<Conv>(state, name, options);
}

LayerPtr MakeBatchNorm(NetworkState& state, const std::string& name, std::int64_t channels) {
  return std::make_unique<BatchNorm>(state, name, channels);
}

LayerPtr MakeRelu() {
  return std::make_unique<Stateless<at::Tensor (*)(const at::Tensor&)>>(
      [](const at::Tensor& input) { return at::relu(input); });
}

LayerPtr MakeMaxPool() {
  return std::make_unique<Stateless<at::Tensor (*)(const at::Tensor&)>>(
      [](const at::Tensor& input) { return at::max_pool2d(input, 2); });
}

LayerPtr MakeGlobalAveragePool() {
  return std::make_unique<Stateless<at::Tensor (*)(const at::Tensor&)>>(
      [](const at::Tensor& input) {
        return input.mean({2, 3});
      });
}

LayerPtr MakeFlatten() {
  return std::make_unique<Stateless<at::Tensor (*)(const at::Tensor&)>>(
      [](const at::Tensor& input) { return input.flatten(1); });
}

LayerPtr MakeSequential(std::vector<LayerPtr> layers) {
  return std::make_unique<Sequential>(std::move(layers));
}

LayerPtr MakeResidual(LayerPtr main, LayerPtr shortcut) {
  return std::make_unique<Residual>(std::move(main), std::move(shortcut));
}

}  // namespace ringside
