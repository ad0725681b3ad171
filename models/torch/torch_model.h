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
/// Parameters are views of the flat space. A linear layer's gradients are written there directly;
/// those of convolutions and batch normalisation are allocated by autograd and copied there once,
/// when they are final (docs/decisions/0008). Buckets are submitted from hooks of autograd while
/// the backward pass goes on, on the calling thread.
///
/// Sets the number of compute threads of the whole process (libtorch, OpenBLAS) to
/// `options.threads`: one model a process is meant. Errors of libtorch come out as
/// `InternalError`; those of the strategy as they are.
std::unique_ptr<Model> MakeTorchModel(const Network& network, const ModelOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_MODELS_TORCH_TORCH_MODEL_H_
