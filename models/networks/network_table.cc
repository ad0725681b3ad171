#include "ringside/models/networks/network_table.h"

#include <array>
#include <string>
#include <utility>

#include "ringside/models/networks/cnn.h"
#include "ringside/models/networks/mlp.h"
#include "ringside/models/networks/resnet18.h"

namespace ringside {
namespace {

constexpr std::array kTable{
    NetworkEntry{"mlp",
                 "linear layers with ReLU, two hidden ones of 2048 unless --hidden says otherwise",
                 MlpNetwork, /*takes_widths=*/true},
    NetworkEntry{"cnn", "two convolutions and two linear layers", CnnNetwork},
    NetworkEntry{"resnet18", "ResNet-18 for small images, with batch normalisation",
                 ResNet18Network},
};

}  // namespace

std::span<const NetworkEntry> NetworkTable() { return kTable; }

ModelEntry NetworkModel(const NetworkEntry& network,
                        std::function<std::unique_ptr<Model>(const ModelOptions&)> make) {
  return {.name = std::string(network.name),
          .summary = std::string(network.summary),
          .traits = {.needs_libtorch = true, .takes_widths = network.takes_widths},
          .make = std::move(make),
          .tensors = [describe = network.describe](const ModelOptions& options) {
            return TensorsOf(describe(options));
          }};
}

}  // namespace ringside
