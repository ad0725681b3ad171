#ifndef RINGSIDE_MODELS_NETWORKS_NETWORK_H_
#define RINGSIDE_MODELS_NETWORKS_NETWORK_H_

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "ringside/common/core/bucket_plan.h"

namespace ringside {

// The layers of a network, as sizes alone. Values; `NetworkBuilder` makes them.

/// samples x inputs -> samples x outputs, with a bias.
struct LinearSpec {
  std::string name;
  std::size_t inputs = 1;
  std::size_t outputs = 1;
};

/// Two-dimensional convolution of samples x channels x height x width.
struct ConvSpec {
  std::string name;
  std::size_t in_channels = 1;
  std::size_t out_channels = 1;
  std::size_t kernel = 3;
  std::size_t stride = 1;
  std::size_t padding = 1;
  bool bias = true;
};

/// Batch normalisation. Its running statistics are buffers, not parameters.
struct BatchNormSpec {
  std::string name;
  std::size_t channels = 1;
};

struct ReluSpec {};
/// Maximum over 2 x 2, stride 2.
struct MaxPoolSpec {};
/// Mean over height and width: samples x channels.
struct GlobalAveragePoolSpec {};
/// samples x everything else.
struct FlattenSpec {};

struct LayerSpec;

/// ReLU of the sum of two branches on the same input. An empty shortcut is the identity.
struct ResidualSpec {
  std::vector<LayerSpec> main;
  std::vector<LayerSpec> shortcut;
};

struct LayerSpec {
  std::variant<LinearSpec, ConvSpec, BatchNormSpec, ReluSpec, MaxPoolSpec, GlobalAveragePoolSpec,
               FlattenSpec, ResidualSpec>
      kind;
};

/// The architecture of a network, written only once. Every binary reads the tensors from it, and a
/// worker with libtorch makes its layers from it (models/torch/layers.h).
struct Network {
  std::vector<LayerSpec> layers;  ///< In forward order.
};

/// The trainable tensors in backward order, as in `Model::Tensors`. The forward pass reads a
/// layer's bias before its weight, and the main branch of a residual layer before its shortcut.
std::vector<TensorSpec> TensorsOf(const Network& network);

}  // namespace ringside

#endif  // RINGSIDE_MODELS_NETWORKS_NETWORK_H_
