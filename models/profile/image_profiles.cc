// Convolutional networks, built layer by layer from the rules of their papers. A layer here is a
// linear layer, or a convolution with the batch normalisation after it.
//
// MACs of a convolution: output height x width x (elements of its weight). MACs of a linear layer:
// elements of its weight. Normalisation, activation and pooling are small beside these and are not
// counted.
#include "ringside/models/profile/image_profiles.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace ringside {
namespace {

constexpr std::size_t kImageSize = 224;
constexpr std::size_t kClasses = 1000;

struct ConvShape {
  std::size_t outputs;
  std::size_t kernel = 3;
  std::size_t stride = 1;
  bool depthwise = false;
};

/// Appends layers and follows the shape of the image through them.
class ImageNetwork {
 public:
  std::size_t channels() const { return channels_; }

  /// A convolution without bias, with "same" padding, followed by batch normalisation.
  void ConvNorm(const std::string& name, const ConvShape& shape) {
    Conv(name, shape);
    profile_.layers.back().tensors.push_back({name + ".bn.weight", shape.outputs});
    profile_.layers.back().tensors.push_back({name + ".bn.bias", shape.outputs});
  }

  void ConvBias(const std::string& name, const ConvShape& shape) {
    Conv(name, shape);
    profile_.layers.back().tensors.push_back({name + ".bias", shape.outputs});
  }

  /// The 1 x 1 convolution beside a block whose input had `in_channels`. The image keeps the shape
  /// that the block gave it.
  void Shortcut(const std::string& name, std::size_t in_channels) {
    const std::size_t out = channels_;
    channels_ = in_channels;
    ConvNorm(name, {.outputs = out, .kernel = 1});
  }

  void Pool() { size_ /= 2; }
  void GlobalPool() { size_ = 1; }

  void Linear(const std::string& name, std::size_t outputs) {
    const std::size_t inputs = channels_ * size_ * size_;
    profile_.layers.push_back({static_cast<double>(inputs * outputs),
                               {{name + ".weight", inputs * outputs}, {name + ".bias", outputs}}});
    channels_ = outputs;
    size_ = 1;
  }

  Profile Take() { return std::move(profile_); }

 private:
  void Conv(const std::string& name, const ConvShape& shape) {
    size_ = (size_ + shape.stride - 1) / shape.stride;
    const std::size_t inputs = shape.depthwise ? 1 : channels_;
    const std::size_t weight = shape.outputs * inputs * shape.kernel * shape.kernel;
    profile_.layers.push_back(
        {static_cast<double>(weight * size_ * size_), {{name + ".weight", weight}}});
    channels_ = shape.outputs;
  }

  Profile profile_;
  std::size_t channels_ = 3;
  std::size_t size_ = kImageSize;
};

// A bottleneck: 1 x 1, then 3 x 3 (with the stride), then 1 x 1 to four times the width.
void Bottleneck(ImageNetwork& network, const std::string& name, std::size_t width,
                std::size_t stride) {
  const std::size_t in_channels = network.channels();
  network.ConvNorm(name + ".conv1", {.outputs = width, .kernel = 1});
  network.ConvNorm(name + ".conv2", {.outputs = width, .stride = stride});
  network.ConvNorm(name + ".conv3", {.outputs = 4 * width, .kernel = 1});
  if (in_channels != 4 * width) network.Shortcut(name + ".downsample", in_channels);
}

// An inverted residual: 1 x 1 to `expand` times the width, then a depthwise 3 x 3, then 1 x 1.
void InvertedResidual(ImageNetwork& network, const std::string& name, std::size_t expand,
                      std::size_t outputs, std::size_t stride) {
  const std::size_t hidden = network.channels() * expand;
  if (expand != 1) network.ConvNorm(name + ".expand", {.outputs = hidden, .kernel = 1});
  network.ConvNorm(name + ".depthwise", {.outputs = hidden, .stride = stride, .depthwise = true});
  network.ConvNorm(name + ".project", {.outputs = outputs, .kernel = 1});
}

}  // namespace

Profile ResNet50Profile() {
  constexpr std::array<std::size_t, 4> kBlocks{3, 4, 6, 3};
  ImageNetwork network;
  network.ConvNorm("conv1", {.outputs = 64, .kernel = 7, .stride = 2});
  network.Pool();
  for (std::size_t stage = 0; stage < kBlocks.size(); ++stage) {
    for (std::size_t block = 0; block < kBlocks[stage]; ++block) {
      const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(block);
      Bottleneck(network, name, std::size_t{64} << stage, stage > 0 && block == 0 ? 2 : 1);
    }
  }
  network.GlobalPool();
  network.Linear("fc", kClasses);
  return network.Take();
}

Profile Vgg16Profile() {
  constexpr std::array<std::size_t, 5> kConvolutions{2, 2, 3, 3, 3};
  ImageNetwork network;
  for (std::size_t stage = 0; stage < kConvolutions.size(); ++stage) {
    const std::size_t width = std::min(std::size_t{64} << stage, std::size_t{512});
    for (std::size_t i = 0; i < kConvolutions[stage]; ++i) {
      network.ConvBias("conv" + std::to_string(stage + 1) + "_" + std::to_string(i + 1),
                       {.outputs = width});
    }
    network.Pool();
  }
  network.Linear("fc1", 4096);
  network.Linear("fc2", 4096);
  network.Linear("fc3", kClasses);
  return network.Take();
}

Profile MobileNetV2Profile() {
  struct Stage {
    std::size_t expand, channels, blocks, stride;
  };
  // Table 2 of the paper.
  constexpr std::array<Stage, 7> kStages{{{1, 16, 1, 1},
                                          {6, 24, 2, 2},
                                          {6, 32, 3, 2},
                                          {6, 64, 4, 2},
                                          {6, 96, 3, 1},
                                          {6, 160, 3, 2},
                                          {6, 320, 1, 1}}};
  ImageNetwork network;
  network.ConvNorm("conv1", {.outputs = 32, .stride = 2});
  std::size_t index = 0;
  for (const Stage& stage : kStages) {
    for (std::size_t block = 0; block < stage.blocks; ++block) {
      InvertedResidual(network, "block" + std::to_string(++index), stage.expand, stage.channels,
                       block == 0 ? stage.stride : 1);
    }
  }
  network.ConvNorm("conv2", {.outputs = 1280, .kernel = 1});
  network.GlobalPool();
  network.Linear("classifier", kClasses);
  return network.Take();
}

}  // namespace ringside
