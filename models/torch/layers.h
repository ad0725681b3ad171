#ifndef RINGSIDE_MODELS_TORCH_LAYERS_H_
#define RINGSIDE_MODELS_TORCH_LAYERS_H_

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/torch/network_state.h"

namespace ringside {

/// One stage of a network. Its parameters are declared in the `NetworkState` it was made with and
/// are read from there when the forward pass reaches it, not before: that is where it waits for
/// them. Initial values follow the formulas of torch::nn.
///
/// Private to models/torch. One thread.
class Layer {
 public:
  virtual ~Layer() = default;
  /// `training`: batch statistics instead of running ones.
  virtual at::Tensor Forward(const at::Tensor& input, const NetworkState& state, bool training) = 0;
};

using LayerPtr = std::unique_ptr<Layer>;

/// samples x inputs -> samples x outputs.
LayerPtr MakeLinear(NetworkState& state, const std::string& name, std::int64_t inputs,
                    std::int64_t outputs);

struct ConvOptions {
  std::int64_t in_channels = 1;
  std::int64_t out_channels = 1;
  std::int64_t kernel = 3;
  std::int64_t stride = 1;
  std::int64_t padding = 1;
  bool bias = true;
};
/// Two-dimensional convolution of samples x channels x height x width.
LayerPtr MakeConv(NetworkState& state, const std::string& name, const ConvOptions& options);

/// Batch normalisation with momentum 0.1 and epsilon 1e-5. Running statistics are buffers: mean,
/// then variance. A batch of one value a channel has no variance and leaves them as they are.
LayerPtr MakeBatchNorm(NetworkState& state, const std::string& name, std::int64_t channels);

LayerPtr MakeRelu();
/// Maximum over 2 x 2, stride 2.
LayerPtr MakeMaxPool();
/// Mean over height and width: samples x channels.
LayerPtr MakeGlobalAveragePool();
/// samples x everything else.
LayerPtr MakeFlatten();
LayerPtr MakeSequential(std::vector<LayerPtr> layers);
/// ReLU of the sum of both branches on the same input; a null `shortcut` is the identity.
LayerPtr MakeResidual(LayerPtr main, LayerPtr shortcut);

}  // namespace ringside

#endif  // RINGSIDE_MODELS_TORCH_LAYERS_H_
