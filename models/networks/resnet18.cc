#include "ringside/models/networks/resnet18.h"

#include <array>
#include <string>
#include <utility>

#include "ringside/models/networks/network_builder.h"

namespace ringside {
namespace {

// Two convolutions of 3 x 3 beside a shortcut. The shortcut is a convolution of 1 x 1 where the
// shape changes.
void AddBasicBlock(NetworkBuilder& network, const std::string& name, std::size_t channels,
                   std::size_t stride) {
  NetworkBuilder main = network.Branch();
  main.Conv(name + ".conv1", {.outputs = channels, .stride = stride, .bias = false})
      .BatchNorm(name + ".bn1")
      .Relu()
      .Conv(name + ".conv2", {.outputs = channels, .bias = false})
      .BatchNorm(name + ".bn2");
  NetworkBuilder shortcut = network.Branch();
  if (stride != 1 || network.shape().channels != channels) {
    shortcut
        .Conv(name + ".shortcut.conv",
              {.outputs = channels, .kernel = 1, .stride = stride, .bias = false})
        .BatchNorm(name + ".shortcut.bn");
  }
  network.Residual(std::move(main), std::move(shortcut));
}

}  // namespace

Network ResNet18Network(const ModelOptions& options) {
  constexpr std::array<std::size_t, 4> kChannels{64, 128, 256, 512};
  NetworkBuilder network(options);
  network.Conv("conv1", {.outputs = kChannels[0], .bias = false}).BatchNorm("bn1").Relu();
  for (std::size_t stage = 0; stage < kChannels.size(); ++stage) {
    const std::string name = "stage" + std::to_string(stage + 1);
    AddBasicBlock(network, name + ".block1", kChannels[stage], stage == 0 ? 1 : 2);
    AddBasicBlock(network, name + ".block2", kChannels[stage], 1);
  }
  network.GlobalAveragePool().Logits("linear");
  return network.Take();
}

}  // namespace ringside
