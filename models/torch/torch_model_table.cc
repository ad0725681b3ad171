#include "ringside/models/torch/torch_model_table.h"

#include <string>
#include <vector>

#include "ringside/models/networks/network_table.h"
#include "ringside/models/torch/script_model.h"
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
  table.push_back({.name = std::string(kScriptModel),
                   .summary = "a module that torch.jit.save wrote: script:FILE, with --loss",
                   .traits = {.needs_libtorch = true,
                              .takes_file = true,
                              .takes_loss = true,
                              .tensors_known = false},
                   .make = MakeScriptModel,
                   .tensors = [](const ModelOptions&) { return std::vector<TensorSpec>(); }});
  return table;
}

}  // namespace

std::span<const ModelEntry> TorchModelTable() {
  static const std::vector<ModelEntry> table = MakeTable();
  return table;
}

}  // namespace ringside
