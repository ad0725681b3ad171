#ifndef RINGSIDE_MODELS_TORCH_TORCH_MODEL_H_
#define RINGSIDE_MODELS_TORCH_TORCH_MODEL_H_

#include <memory>

#include "ringside/common/training/model.h"
#include "ringside/models/core/model_entry.h"
#include "ringside/models/networks/network.h"

namespace ringside {

/// Makes a model that computes `network` with libtorch: classification of the samples of `options`
/// with the cross-entropy loss.
///
/// Parameters are views of the flat space. The gradients of a linear layer are written there
/// directly. Autograd allocates the gradients of convolutions and batch normalisation; they are
/// copied there once, when they are final (docs/decisions/0008). Hooks of autograd submit buckets
/// during the backward pass, on the calling thread.
///
/// Sets the number of compute threads of the whole process (libtorch, OpenBLAS) to
/// `options.threads`, so a process should have only one model. Errors of libtorch become
/// `InternalError`; those of the strategy are not changed.
std::unique_ptr<Model> MakeTorchModel(const Network& network, const ModelOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_MODELS_TORCH_TORCH_MODEL_H_
