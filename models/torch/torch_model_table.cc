#include "ringside/models/torch/torch_model_table.h"

#include <vector>

#include "ringside/models/networks/network_table.h"
#include "ringside/models/torch/torch_model.h"

namespace ringside {
namespace {

std::vector<ModelEntry> MakeTable() {
  std::vector<ModelEntry> table;
  for (const NetworkEntry& network : NetworkTable()) {
    table.push_back(
        NetworkModel(network, [describe = network.describe](const ModelOptions& options) {
          return MakeTorchModel(describe(options), options);
        }));
  }
  return table;
}

}  // namespace

std::span<const ModelEntry> TorchModelTable() {
  static const std::vector<ModelEntry> table = MakeTable();
  return table;
}

}  // namespace ringside
