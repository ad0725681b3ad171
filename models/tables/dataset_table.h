#ifndef RINGSIDE_MODELS_TABLES_DATASET_TABLE_H_
#define RINGSIDE_MODELS_TABLES_DATASET_TABLE_H_

#include <span>

#include "ringside/models/core/dataset_entry.h"

namespace ringside {

std::span<const DatasetEntry> DatasetTable();

}  // namespace ringside

#endif  // RINGSIDE_MODELS_TABLES_DATASET_TABLE_H_
