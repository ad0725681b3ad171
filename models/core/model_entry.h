#ifndef RINGSIDE_MODELS_CORE_MODEL_ENTRY_H_
#define RINGSIDE_MODELS_CORE_MODEL_ENTRY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/data/dataset.h"
#include "ringside/common/training/model.h"

namespace ringside {

/// The name of the entry whose model is a program of the user's.
inline constexpr std::string_view kProgramModel = "program";

/// The name of the entry whose model is a TorchScript module in a file.
inline constexpr std::string_view kScriptModel = "script:";

/// What a model that can learn anything minimises.
enum class Loss {
  kAuto,          ///< `kCrossEntropy` where answers are classes, `kMse` where they are numbers.
  kCrossEntropy,  ///< Of logits.
  kMse,           ///< The mean over the numbers of an answer of the squared difference.
  kMae,           ///< The same of the absolute difference.
};

struct ModelOptions {
  SampleShape input = {};        ///< From the dataset.
  int classes = 10;              ///< From the dataset.
  std::size_t targets = 0;       ///< `Dataset::targets`.
  bool integer_inputs = false;   ///< `Dataset::integer_inputs`.
  std::uint64_t seed = 1;        ///< Seed of the initial parameters.
  std::vector<int> widths = {};  ///< mlp: hidden widths; empty: 2048, 2048.
  double compute_ms = 0;  ///< profile models: emulated compute of a step, forward and backward.
  int threads = 1;        ///< Compute threads of this worker.
  int local_rank = 0;     ///< Of this worker among those of its machine, which choose GPUs by it.
  std::string file = {};  ///< Of an entry that takes one.
  Loss loss = Loss::kAuto;
};

/// The kind of a model. Checks and estimates decide by these members, never by a name.
struct ModelTraits {
  bool needs_libtorch = false;
  bool needs_gpu = false;
  /// It waits for `compute_ms` instead of computing.
  bool emulates_compute = false;
  bool reads_samples = true;  ///< False: it uses the dataset without samples.
  bool takes_widths = false;  ///< It reads `ModelOptions::widths`.
  /// It is a program of the user's, and its tensors are not known before that runs.
  bool is_program = false;
  /// Its name ends with a colon, and a path follows in a spec: "script:net.pt".
  bool takes_file = false;
  bool takes_loss = false;  ///< It reads `ModelOptions::loss`, and takes any dataset.
  /// False: its tensors are known only when it is made. Then `ModelEntry::tensors` returns none.
  bool tensors_known = true;
};

/// An entry of the table of models. It owns its texts.
struct ModelEntry {
  std::string name;  ///< "mlp", "profile:resnet50".
  std::string summary;
  ModelTraits traits;
  /// Makes the model. Empty when `traits.needs_libtorch` and the program does not link libtorch.
  std::function<std::unique_ptr<Model>(const ModelOptions&)> make;
  /// The tensors that `Model::Tensors` will return, in every program.
  /// Takes the same options as `make`.
  std::function<std::vector<TensorSpec>(const ModelOptions&)> tensors;
  /// Why this machine cannot run the model, and what to do about it; empty text: it can. Empty
  /// function: it always can.
  std::function<std::string()> unavailable = {};
};

}  // namespace ringside

#endif  // RINGSIDE_MODELS_CORE_MODEL_ENTRY_H_
