#ifndef RINGSIDE_MODELS_TORCH_NETWORK_TENSORS_H_
#define RINGSIDE_MODELS_TORCH_NETWORK_TENSORS_H_

#include <vector>

#include "common/bucket_plan.h"
#include "models/model_table.h"

namespace ringside {

/// The trainable tensors of the networks of networks.h, in backward order, for binaries without
/// libtorch: what `Model::Tensors` of the real ones says (a test compares). Pure; the input and the
/// classes of `options` are those of a dataset.
std::vector<TensorSpec> MlpTensors(const ModelOptions& options);
std::vector<TensorSpec> CnnTensors(const ModelOptions& options);
std::vector<TensorSpec> ResNet18Tensors(const ModelOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_MODELS_TORCH_NETWORK_TENSORS_H_
