// The layers of networks.cc once more, as sizes.
#include "models/torch/network_tensors.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace ringside {
namespace {

/// Collects tensors in the order in which the forward pass reads them.
class TensorList {
 public:
  void AddLinear(const std::string& name, std::size_t inputs, std::size_t outputs) {
    Add(name + ".bias", outputs);
    Add(name + ".weight", outputs * inputs);
  }
  void AddPlainConv(const std::string& name, std::size_t in, std::size_t out, std::size_t kernel) {
    Add(name + ".weight", out * in * kernel * kernel);
  }
  void AddConv(const std::string& name, std::size_t in, std::size_t out, std::size_t kernel) {
    Add(name + ".bias", out);
    AddPlainConv(name, in, out, kernel);
  }
  void AddBatchNorm(const std::string& name, std::size_t channels) {
    Add(name + ".bias", channels);
    Add(name + ".weight", channels);
  }
  void AddBasicBlock(const std::string& name, std::size_t in, std::size_t out) {
    AddPlainConv(name + ".conv1", in, out, 3);
    AddBatchNorm(name + ".bn1", out);
    AddPlainConv(name + ".conv2", out, out, 3);
    AddBatchNorm(name + ".bn2", out);
    if (in == out) return;
    AddPlainConv(name + ".shortcut.conv", in, out, 1);
    AddBatchNorm(name + ".shortcut.bn", out);
  }

  std::vector<TensorSpec> InBackwardOrder() && {
    std::ranges::reverse(tensors_);
    return std::move(tensors_);
  }

 private:
  void Add(std::string name, std::size_t elements) {
    tensors_.push_back({std::move(name), elements});
  }

  std::vector<TensorSpec> tensors_;
};

}  // namespace

std::vector<TensorSpec> MlpTensors(const ModelOptions& options) {
  const std::vector<int> widths =
      options.widths.empty() ? std::vector<int>{2048, 2048} : options.widths;
  TensorList list;
  std::size_t inputs = options.input.elements();
  int index = 1;
  for (const int width : widths) {
    list.AddLinear("linear" + std::to_string(index++), inputs, static_cast<std::size_t>(width));
    inputs = static_cast<std::size_t>(width);
  }
  list.AddLinear("linear" + std::to_string(index), inputs,
                 static_cast<std::size_t>(options.classes));
  return std::move(list).InBackwardOrder();
}

std::vector<TensorSpec> CnnTensors(const ModelOptions& options) {
  constexpr std::array<std::size_t, 2> kChannels{64, 128};
  constexpr std::size_t kHidden = 512;
  SampleShape image = options.input;
  TensorList list;
  for (std::size_t i = 0; i < kChannels.size(); ++i) {
    list.AddConv("conv" + std::to_string(i + 1), image.channels, kChannels[i], 3);
    image.channels = kChannels[i];
    if (std::min(image.height, image.width) < 2) continue;
    image.height /= 2;
    image.width /= 2;
  }
  list.AddLinear("linear1", image.elements(), kHidden);
  list.AddLinear("linear2", kHidden, static_cast<std::size_t>(options.classes));
  return std::move(list).InBackwardOrder();
}

std::vector<TensorSpec> ResNet18Tensors(const ModelOptions& options) {
  constexpr std::array<std::size_t, 4> kChannels{64, 128, 256, 512};
  TensorList list;
  list.AddPlainConv("conv1", options.input.channels, kChannels[0], 3);
  list.AddBatchNorm("bn1", kChannels[0]);
  std::size_t in = kChannels[0];
  for (std::size_t stage = 0; stage < kChannels.size(); ++stage) {
    const std::string name = "stage" + std::to_string(stage + 1);
    list.AddBasicBlock(name + ".block1", in, kChannels[stage]);
    list.AddBasicBlock(name + ".block2", kChannels[stage], kChannels[stage]);
    in = kChannels[stage];
  }
  list.AddLinear("linear", in, static_cast<std::size_t>(options.classes));
  return std::move(list).InBackwardOrder();
}

}  // namespace ringside
