#ifndef RINGSIDE_MODELS_CORE_DATASET_ENTRY_H_
#define RINGSIDE_MODELS_CORE_DATASET_ENTRY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "ringside/common/data/dataset.h"

namespace ringside {

struct DatasetOptions {
  std::string directory = {};  ///< Directory of the files, for datasets that are not built in.
  std::string file = {};       ///< Of an entry that takes one.
  std::uint64_t seed = 1;      ///< Seed of synthetic samples.
};

/// An entry of the table of datasets. It owns its texts.
struct DatasetEntry {
  std::string name;
  std::string summary;
  bool needs_directory = false;  ///< The dataset is read from files.
  /// Its name ends with a colon, and a path follows in a spec: "npz:data.npz". Then the members
  /// that follow are known only when it is made.
  bool takes_file = false;
  SampleShape shape = {};
  int classes = 0;
  std::size_t train_samples = 0;  ///< 0: as many as the files have.
  /// Throws `DataError` with the path, the offset and what was expected.
  std::function<std::unique_ptr<Dataset>(const DatasetOptions&)> make;
  /// False: a dataset for models that read no samples.
  bool has_samples = true;
};

}  // namespace ringside

#endif  // RINGSIDE_MODELS_CORE_DATASET_ENTRY_H_
