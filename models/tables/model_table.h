#ifndef RINGSIDE_MODELS_TABLES_MODEL_TABLE_H_
#define RINGSIDE_MODELS_TABLES_MODEL_TABLE_H_

#include <span>

#include "ringside/models/core/model_entry.h"

namespace ringside {

/// The models of `ringside` itself. Those that need libtorch have an empty `make`.
std::span<const ModelEntry> ModelTable();

}  // namespace ringside

#endif  // RINGSIDE_MODELS_TABLES_MODEL_TABLE_H_
