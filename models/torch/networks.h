#ifndef RINGSIDE_MODELS_TORCH_NETWORKS_H_
#define RINGSIDE_MODELS_TORCH_NETWORKS_H_

#include "models/model_table.h"
#include "models/torch/layers.h"
#include "models/torch/network_state.h"

namespace ringside {

/// Builds a network for the input and the classes in `options`, declaring its parameters in
/// `state`; it maps samples x channels x height x width to samples x classes (logits). Throws
/// `ConfigError` for options it cannot serve.
using NetworkBuilder = LayerPtr (*)(const ModelOptions& options, NetworkState& state);

/// Linear layers with ReLU between them: `options.widths` hidden ones, two of 2048 by default.
LayerPtr BuildMlp(const ModelOptions& options, NetworkState& state);

/// Two convolutions of 64 and 128 channels, each with ReLU and a pool of 2 x 2 (left out where an
/// image has become too small), a linear layer of 512 and one of `classes`.
LayerPtr BuildCnn(const ModelOptions& options, NetworkState& state);

/// ResNet-18 in its variant for small images (He, Zhang, Ren and Sun, 2015, section 4.2 with the
/// widths of ImageNet's): a first convolution of 3 x 3 without pool, four stages of two basic
/// blocks of 64, 128, 256 and 512 channels. 11,173,962 parameters for 3 channels and 10 classes.
LayerPtr BuildResNet18(const ModelOptions& options, NetworkState& state);

}  // namespace ringside

#endif  // RINGSIDE_MODELS_TORCH_NETWORKS_H_
