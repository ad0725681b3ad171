#include "models/torch/torch_model_table.h"

#include <array>

#include "models/torch/networks.h"
#include "models/torch/torch_model.h"
#include "models/torch/torch_model_names.h"

namespace ringside {
namespace {

template <NetworkBuilder kBuild>
constexpr ModelEntry Entry(const TorchModelName& name) {
  return {name.name, name.summary, true,
          [](const ModelOptions& options) { return MakeTorchModel(kBuild, options); },
          name.tensors};
}

constexpr std::array<ModelEntry, kTorchModelNames.size()> kTable{
    Entry<BuildMlp>(kTorchModelNames[0]),
    Entry<BuildCnn>(kTorchModelNames[1]),
    Entry<BuildResNet18>(kTorchModelNames[2]),
};

}  // namespace

std::span<const ModelEntry> TorchModelTable() { return kTable; }

}  // namespace ringside
