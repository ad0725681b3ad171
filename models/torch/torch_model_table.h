#ifndef RINGSIDE_MODELS_TORCH_TORCH_MODEL_TABLE_H_
#define RINGSIDE_MODELS_TORCH_TORCH_MODEL_TABLE_H_

#include <span>

#include "models/model_table.h"

namespace ringside {

/// The models that need libtorch, with their factories: the entries that `ModelTable()` lists with
/// null ones, in the same order. In library `ringside_torch_models`. A worker looks here first,
/// then in `ModelTable()`.
std::span<const ModelEntry> TorchModelTable();

}  // namespace ringside

#endif  // RINGSIDE_MODELS_TORCH_TORCH_MODEL_TABLE_H_
