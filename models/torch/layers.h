#ifndef RINGSIDE_MODELS_TORCH_LAYERS_H_
#define RINGSIDE_MODELS_TORCH_LAYERS_H_

// Private to the .cc files of this folder.

#include <ATen/ATen.h>

#include <memory>

#include "ringside/models/networks/network.h"
#include "ringside/models/torch/network_state.h"

namespace ringside {

/// One stage of a network. Its parameters are declared in the `NetworkState` that it was made with.
/// It reads them only when the forward pass reaches it, and waits for them there. Initial values
/// follow the formulas of torch::nn.
///
/// One thread.
class Layer {
 public:
  virtual ~Layer() = default;
  /// `training`: use the statistics of the batch instead of the running ones.
  virtual at::Tensor Forward(const at::Tensor& input, const NetworkState& state, bool training) = 0;
};

using LayerPtr = std::unique_ptr<Layer>;

/// Makes the layers of `network` as one layer. Declares their parameters and buffers in `state`;
/// `Specs` of `state` are then `TensorsOf(network)`.
///
/// Batch normalisation has momentum 0.1 and epsilon 1e-5. Its running statistics are buffers: the
/// mean, then the variance. A batch with one value per channel has no variance and does not change
/// them.
LayerPtr MakeLayers(const Network& network, NetworkState& state);

}  // namespace ringside

#endif  // RINGSIDE_MODELS_TORCH_LAYERS_H_
