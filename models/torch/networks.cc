#include "models/torch/networks.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/errors.h"

namespace ringside {
namespace {

struct ImageSize {
  std::int64_t channels;
  std::int64_t height;
  std::int64_t width;
  std::int64_t elements() const { return channels * height * width; }
};

ImageSize CheckedInput(const ModelOptions& options) {
  if (options.input.elements() == 0 || options.classes < 1)
    throw ConfigError("this model needs a dataset that has inputs and classes");
  return {static_cast<std::int64_t>(options.input.channels),
          static_cast<std::int64_t>(options.input.height),
          static_cast<std::int64_t>(options.input.width)};
}

std::vector<int> HiddenWidths(const ModelOptions& options) {
  if (options.widths.empty()) return {2048, 2048};
  if (std::ranges::any_of(options.widths, [](int width) { return width < 1; }))
    throw ConfigError("a width of a hidden layer must be at least 1");
  return options.widths;
}

LayerPtr MakePlainConv(NetworkState& state, const std::string& name, std::int64_t in,
                       std::int64_t out, std::int64_t kernel, std::int64_t stride) {
  return MakeConv(state, name,
                  {.in_channels = in,
                   .out_channels = out,
                   .kernel = kernel,
                   .stride = stride,
                   .padding = kernel / 2,
                   .bias = false});
}

// Two convolutions of 3 x 3 beside a shortcut, which is a convolution of 1 x 1 where the shape
// changes.
LayerPtr MakeBasicBlock(NetworkState& state, const std::string& name, std::int64_t in,
                        std::int64_t out, std::int64_t stride) {
  std::vector<LayerPtr> main;
  main.push_back(MakePlainConv(state, name + ".conv1", in, out, 3, stride));
  main.push_back(MakeBatchNorm(state, name + ".bn1", out));
  main.push_back(MakeRelu());
  main.push_back(MakePlainConv(state, name + ".conv2", out, out, 3, 1));
  main.push_back(MakeBatchNorm(state, name + ".bn2", out));
  LayerPtr shortcut;
  if (stride != 1 || in != out) {
    std::vector<LayerPtr> layers;
    layers.push_back(MakePlainConv(state, name + ".shortcut.conv", in, out, 1, stride));
    layers.push_back(MakeBatchNorm(state, name + ".shortcut.bn", out));
    shortcut = MakeSequential(std::move(layers));
  }
  return MakeResidual(MakeSequential(std::move(main)), std::move(shortcut));
}

}  // namespace

LayerPtr BuildMlp(const ModelOptions& options, NetworkState& state) {
  std::vector<LayerPtr> layers;
  layers.push_back(MakeFlatten());
  std::int64_t inputs = CheckedInput(options).elements();
  int index = 1;
  for (const int width : HiddenWidths(options)) {
    layers.push_back(MakeLinear(state, "linear" + std::to_string(index++), inputs, width));
    layers.push_back(MakeRelu());
    inputs = width;
  }
  layers.push_back(MakeLinear(state, "linear" + std::to_string(index), inputs, options.classes));
  return MakeSequential(std::move(layers));
}

LayerPtr BuildCnn(const ModelOptions& options, NetworkState& state) {
  constexpr std::array<std::int64_t, 2> kChannels{64, 128};
  constexpr std::int64_t kHidden = 512;
  ImageSize image = CheckedInput(options);
  std::vector<LayerPtr> layers;
  for (std::size_t i = 0; i < kChannels.size(); ++i) {
    layers.push_back(MakeConv(state, "conv" + std::to_string(i + 1),
                              {.in_channels = image.channels, .out_channels = kChannels[i]}));
    layers.push_back(MakeRelu());
    image.channels = kChannels[i];
    if (std::min(image.height, image.width) < 2) continue;
    layers.push_back(MakeMaxPool());
    image.height /= 2;
    image.width /= 2;
  }
  layers.push_back(MakeFlatten());
  layers.push_back(MakeLinear(state, "linear1", image.elements(), kHidden));
  layers.push_back(MakeRelu());
  layers.push_back(MakeLinear(state, "linear2", kHidden, options.classes));
  return MakeSequential(std::move(layers));
}

LayerPtr BuildResNet18(const ModelOptions& options, NetworkState& state) {
  constexpr std::array<std::int64_t, 4> kChannels{64, 128, 256, 512};
  const ImageSize image = CheckedInput(options);
  std::vector<LayerPtr> layers;
  layers.push_back(MakePlainConv(state, "conv1", image.channels, kChannels[0], 3, 1));
  layers.push_back(MakeBatchNorm(state, "bn1", kChannels[0]));
  layers.push_back(MakeRelu());
  std::int64_t in = kChannels[0];
  for (std::size_t stage = 0; stage < kChannels.size(); ++stage) {
    const std::string name = "stage" + std::to_string(stage + 1);
    const std::int64_t out = kChannels[stage];
    layers.push_back(MakeBasicBlock(state, name + ".block1", in, out, stage == 0 ? 1 : 2));
    layers.push_back(MakeBasicBlock(state, name + ".block2", out, out, 1));
    in = out;
  }
  layers.push_back(MakeGlobalAveragePool());
  layers.push_back(MakeLinear(state, "linear", in, options.classes));
  return MakeSequential(std::move(layers));
}

}  // namespace ringside
