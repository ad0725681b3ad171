#ifndef RINGSIDE_MODELS_DATASET_TABLE_H_
#define RINGSIDE_MODELS_DATASET_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/data/dataset.h"

namespace ringside {

struct DatasetOptions {
  std::string directory = {};  ///< Of the files, for datasets that are not built in.
  std::uint64_t seed = 1;      ///< Of synthetic samples.
};

/// One line of the table of datasets.
struct DatasetEntry {
  std::string_view name;
  std::string_view summary;
  bool needs_directory;
  SampleShape shape;
  int classes;
  std::size_t train_samples;  ///< 0: as many as its files have.
  /// Throws `DataError` (path, offset, what was expected).
  std::unique_ptr<Dataset> (*make)(const DatasetOptions&);
};

std::span<const DatasetEntry> DatasetTable();

}  // namespace ringside

#endif  // RINGSIDE_MODELS_DATASET_TABLE_H_
