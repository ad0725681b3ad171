#ifndef RINGSIDE_MODELS_TORCH_TORCH_MODEL_TABLE_H_
#define RINGSIDE_MODELS_TORCH_TORCH_MODEL_TABLE_H_

#include <span>
#include <vector>

#include "ringside/models/core/model_entry.h"

namespace ringside {

/// The models that need libtorch, with their factories. They are the entries that `ModelTable()`
/// lists without factories, in the same order. In library `ringside_torch_models`.
std::span<const ModelEntry> TorchModelTable();

/// The same models, in the form in which a program adds them to its extensions.
inline std::vector<ModelEntry> TorchModels() {
  return {TorchModelTable().begin(), TorchModelTable().end()};
}

}  // namespace ringside

#endif  // RINGSIDE_MODELS_TORCH_TORCH_MODEL_TABLE_H_
