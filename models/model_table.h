#ifndef RINGSIDE_MODELS_MODEL_TABLE_H_
#define RINGSIDE_MODELS_MODEL_TABLE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/bucket_plan.h"
#include "common/data/dataset.h"
#include "common/model.h"

namespace ringside {

struct ModelOptions {
  SampleShape input = {};        ///< From the dataset.
  int classes = 10;              ///< From the dataset.
  std::uint64_t seed = 1;        ///< Of the initial parameters.
  std::vector<int> widths = {};  ///< mlp: hidden widths; empty: 2048, 2048.
  double compute_ms = 0;  ///< profile models: emulated compute of a step, forward and backward.
  int threads = 1;        ///< Compute threads of this worker.
};

/// One line of the table of models.
struct ModelEntry {
  std::string_view name;  ///< "mlp", "profile:resnet50".
  std::string_view summary;
  bool needs_libtorch;
  /// Null in a binary that does not load libtorch, where `needs_libtorch`.
  std::unique_ptr<Model> (*make)(const ModelOptions&);
  /// What `Model::Tensors` will say, in every binary. For options that `make` takes.
  std::vector<TensorSpec> (*tensors)(const ModelOptions&);
};

/// Models that need no libtorch, with null factories for those that do: what `ringside` itself
/// links.
std::span<const ModelEntry> ModelTable();

}  // namespace ringside

#endif  // RINGSIDE_MODELS_MODEL_TABLE_H_
