#include "ringside/models/torch/layers.h"

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "ringside/models/networks/initial_values.h"
#include "ringside/models/torch/flat_linear.h"

namespace ringside {
namespace {

std::int64_t Size(std::size_t size) { return static_cast<std::int64_t>(size); }

Initial DefaultInitial(std::size_t fan_in) {
  return {Initial::Kind::kUniform, DefaultBound(fan_in)};
}

class Linear : public Layer {
 public:
  Linear(NetworkState& state, const LinearSpec& spec)
      : bias_(state.AddParameter(spec.name + ".bias", {Size(spec.outputs)},
                                 DefaultInitial(spec.inputs))),
        weight_(state.AddParameter(spec.name + ".weight", {Size(spec.outputs), Size(spec.inputs)},
                                   DefaultInitial(spec.inputs))) {}

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
  Conv(NetworkState& state, const ConvSpec& spec)
      : stride_(Size(spec.stride)), padding_(Size(spec.padding)) {
    const Initial initial = DefaultInitial(spec.in_channels * spec.kernel * spec.kernel);
    if (spec.bias)
      bias_ = state.AddParameter(spec.name + ".bias", {Size(spec.out_channels)}, initial);
    weight_ = state.AddParameter(
        spec.name + ".weight",
        {Size(spec.out_channels), Size(spec.in_channels), Size(spec.kernel), Size(spec.kernel)},
        initial);
  }

  at::Tensor Forward(const at::Tensor& input, const NetworkState& state, bool) override {
    const at::Tensor bias = bias_ < 0 ? at::Tensor() : state.Read(bias_);
    return at::conv2d(input, state.Read(weight_), bias, stride_, padding_);
  }

 private:
  std::int64_t stride_;
  std::int64_t padding_;
  int bias_ = -1;
  int weight_ = -1;
};

class BatchNorm : public Layer {
 public:
  BatchNorm(NetworkState& state, const BatchNormSpec& spec)
      : bias_(state.AddParameter(spec.name + ".bias", {Size(spec.channels)},
                                 {Initial::Kind::kConstant, 0})),
        weight_(state.AddParameter(spec.name + ".weight", {Size(spec.channels)},
                                   {Initial::Kind::kConstant, 1})),
        mean_(state.AddBuffer(spec.channels, 0)),
        variance_(state.AddBuffer(spec.channels, 1)) {}

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

LayerPtr MakeSequential(const std::vector<LayerSpec>& specs, NetworkState& state);

/// Makes a layer from its description.
class LayerMaker {
 public:
  explicit LayerMaker(NetworkState& state) : state_(state) {}

  LayerPtr operator()(const LinearSpec& spec) { return std::make_unique<Linear>(state_, spec); }
  LayerPtr operator()(const ConvSpec& spec) { return std::make_unique<Conv>(state_, spec); }
  LayerPtr operator()(const BatchNormSpec& spec) {
    return std::make_unique<BatchNorm>(state_, spec);
  }
  LayerPtr operator()(const ReluSpec&) {
    return MakeStateless([](const at::Tensor& input) { return at::relu(input); });
  }
  LayerPtr operator()(const MaxPoolSpec&) {
    return MakeStateless([](const at::Tensor& input) { return at::max_pool2d(input, 2); });
  }
  LayerPtr operator()(const GlobalAveragePoolSpec&) {
    return MakeStateless([](const at::Tensor& input) { return input.mean({2, 3}); });
  }
  LayerPtr operator()(const FlattenSpec&) {
    return MakeStateless([](const at::Tensor& input) { return input.flatten(1); });
  }
  LayerPtr operator()(const ResidualSpec& spec) {
    LayerPtr main = MakeSequential(spec.main, state_);
    LayerPtr shortcut = spec.shortcut.empty() ? nullptr : MakeSequential(spec.shortcut, state_);
    return std::make_unique<Residual>(std::move(main), std::move(shortcut));
  }

 private:
  template <typename Function>
  static LayerPtr MakeStateless(Function function) {
    return std::make_unique<Stateless<Function>>(std::move(function));
  }

  NetworkState& state_;
};

LayerPtr MakeSequential(const std::vector<LayerSpec>& specs, NetworkState& state) {
  LayerMaker maker(state);
  std::vector<LayerPtr> layers;
  for (const LayerSpec& spec : specs) layers.push_back(std::visit(maker, spec.kind));
  return std::make_unique<Sequential>(std::move(layers));
}

}  // namespace

LayerPtr MakeLayers(const Network& network, NetworkState& state) {
  return MakeSequential(network.layers, state);
}

}  // namespace ringside
