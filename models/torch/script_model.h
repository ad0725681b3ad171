#ifndef RINGSIDE_MODELS_TORCH_SCRIPT_MODEL_H_
#define RINGSIDE_MODELS_TORCH_SCRIPT_MODEL_H_

#include <memory>

#include "ringside/common/training/model.h"
#include "ringside/models/core/model_entry.h"

namespace ringside {

/// Makes the model of a TorchScript module in `options.file`, with the parameters that the file
/// has. Its forward method gets a batch of shape (samples, width), (samples, height, width) or
/// (samples, channels, height, width), as the samples are, of float32 or int64. It returns logits
/// of shape (samples, classes), or numbers of shape (samples, targets) or (samples) for one target.
///
/// All parameters that need a gradient are trained; they must be float32. A parameter that a step
/// does not use has the gradient 0. Buffers of float32 are averaged over workers at pauses. The
/// forward pass awaits all parameters at its beginning, because a module does not tell when it
/// reads which.
///
/// For answers that are numbers, an evaluation has the metrics "mse" and "mae": means over samples
/// and targets.
///
/// Throws `ConfigError` for a file that libtorch cannot read, a parameter of another type, and a
/// loss that does not fit the answers. Errors of libtorch in a step become `InternalError`.
std::unique_ptr<Model> MakeScriptModel(const ModelOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_MODELS_TORCH_SCRIPT_MODEL_H_
