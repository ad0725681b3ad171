#include "models/model_table.h"

#include <array>

#include "models/torch/torch_model_names.h"

namespace ringside {
namespace {

constexpr ModelEntry TorchEntry(const TorchModelName& name) {
  return {name.name, name.summary, true, nullptr};
}

}  // namespace

std::span<const ModelEntry> ModelTable() {
  static constexpr std::array kTable{TorchEntry(kTorchModelNames[0]),
                                     TorchEntry(kTorchModelNames[1]),
                                     TorchEntry(kTorchModelNames[2])};
  return kTable;
}

}  // namespace ringside
