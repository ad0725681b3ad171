#include "ringside/models/networks/network_builder.h"

#include <algorithm>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

std::string Text(const SampleShape& shape) {
  return std::to_string(shape.channels) + " x " + std::to_string(shape.height) + " x " +
         std::to_string(shape.width);
}

void Require(bool fits, const std::string& what) {
  if (!fits) throw ConfigError(what);
}

}  // namespace

NetworkBuilder::NetworkBuilder(const ModelOptions& options)
    : NetworkBuilder(options.input, static_cast<std::size_t>(std::max(options.classes, 0))) {
  Require(shape_.elements() > 0 && classes_ > 0,
          "this model needs a dataset that has inputs and classes");
}

NetworkBuilder& NetworkBuilder::Linear(const std::string& name, std::size_t outputs) {
  Require(outputs > 0, "linear layer '" + name + "' needs at least 1 output");
  Require(shape_.height == 1 && shape_.width == 1,
          "linear layer '" + name + "' needs a flat input, not " + Text(shape_) +
              ": put Flatten or GlobalAveragePool before it");
  network_.layers.push_back({LinearSpec{name, shape_.channels, outputs}});
  shape_ = {outputs, 1, 1};
  return *this;
}

NetworkBuilder& NetworkBuilder::Conv(const std::string& name, const ConvShape& shape) {
  Require(shape.outputs > 0 && shape.stride > 0 && shape.kernel % 2 == 1,
          "convolution '" + name + "' needs outputs, a stride and an odd kernel");
  network_.layers.push_back({ConvSpec{.name = name,
                                      .in_channels = shape_.channels,
                                      .out_channels = shape.outputs,
                                      .kernel = shape.kernel,
                                      .stride = shape.stride,
                                      .padding = shape.kernel / 2,
                                      .bias = shape.bias}});
  const auto strided = [&](std::size_t size) { return (size - 1) / shape.stride + 1; };
  shape_ = {shape.outputs, strided(shape_.height), strided(shape_.width)};
  return *this;
}

NetworkBuilder& NetworkBuilder::BatchNorm(const std::string& name) {
  network_.layers.push_back({BatchNormSpec{name, shape_.channels}});
  return *this;
}

NetworkBuilder& NetworkBuilder::Relu() {
  network_.layers.push_back({ReluSpec{}});
  return *this;
}

NetworkBuilder& NetworkBuilder::MaxPool() {
  Require(std::min(shape_.height, shape_.width) >= 2,
          "a pool of 2 x 2 needs an image of 2 x 2 or larger, not " + Text(shape_));
  network_.layers.push_back({MaxPoolSpec{}});
  shape_.height /= 2;
  shape_.width /= 2;
  return *this;
}

NetworkBuilder& NetworkBuilder::GlobalAveragePool() {
  network_.layers.push_back({GlobalAveragePoolSpec{}});
  shape_ = {shape_.channels, 1, 1};
  return *this;
}

NetworkBuilder& NetworkBuilder::Flatten() {
  network_.layers.push_back({FlattenSpec{}});
  shape_ = {shape_.elements(), 1, 1};
  return *this;
}

NetworkBuilder& NetworkBuilder::Residual(NetworkBuilder main, NetworkBuilder shortcut) {
  Require(main.shape_ == shortcut.shape_,
          "a residual layer cannot add " + Text(main.shape_) + " and " + Text(shortcut.shape_));
  shape_ = main.shape_;
  network_.layers.push_back(
      {ResidualSpec{std::move(main.network_.layers), std::move(shortcut.network_.layers)}});
  return *this;
}

}  // namespace ringside
