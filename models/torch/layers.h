#ifndef RINGSIDE_MODELS_TORCH_LAYERS_H_
#define RINGSIDE_MODELS_TORCH_LAYERS_H_

// Private to the .cc files of this folder.

#include <ATen/ATen.h>

#include <memory>

#include "ringside/models/networks/network.h"
#include "ringside/models/torch/network_state.h"

namespace ringside {

/// One stage of a network. Its parameters are declared in the `NetworkState` it was made with and
/// are read from there when the forward pass reaches it, not before: that is where it waits for
/// them. Initial values follow the formulas of torch::nn.
///
/// One thread.
class Layer {
 public:
  virtual ~Layer() = default;
  /// `training`: batch statistics instead of running ones.
  virtual at::Tensor Forward(const at::Tensor& input, const NetworkState& state, bool training) = 0;
};

using LayerPtr = std::unique_ptr<Layer>;

/// Makes the layers of `network` as one. Declares their parameters and buffers in `state`, whose
/// `Specs` are then `TensorsOf(network)`.
///
/// Batch normalisation has momentum 0.1 and epsilon 1e-5. Its running statistics are buffers: mean,
/// then variance. A batch of one value a channel has no variance and leaves them as they are.
LayerPtr MakeLayers(const Network& network, NetworkState& state);

}  // namespace ringside

#endif  // RINGSIDE_MODELS_TORCH_LAYERS_H_
