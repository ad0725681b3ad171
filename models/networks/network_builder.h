#ifndef RINGSIDE_MODELS_NETWORKS_NETWORK_BUILDER_H_
#define RINGSIDE_MODELS_NETWORKS_NETWORK_BUILDER_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "ringside/common/data/dataset.h"
#include "ringside/models/core/model_entry.h"
#include "ringside/models/networks/network.h"

namespace ringside {

/// The sizes of a convolution, without the sizes of its input, which the builder knows.
struct ConvShape {
  std::size_t outputs = 1;  ///< Channels.
  std::size_t kernel = 3;   ///< Odd; the image keeps its size, except for the stride.
  std::size_t stride = 1;
  bool bias = true;
};

/// Appends layers to a network and follows the shape of a sample through them, so that every layer
/// fits the one before it. Each function returns the builder, and throws `ConfigError` for a layer
/// that does not fit the present shape.
class NetworkBuilder {
 public:
  /// Begins with the samples of `options`. Throws `ConfigError` when they have no elements or no
  /// classes.
  explicit NetworkBuilder(const ModelOptions& options);

  /// The output shape of the last layer. After `Flatten` and `GlobalAveragePool`: n x 1 x 1.
  const SampleShape& shape() const { return shape_; }

  NetworkBuilder& Linear(const std::string& name, std::size_t outputs);
  /// A linear layer with one output per class, the last layer of a classifier.
  NetworkBuilder& Logits(const std::string& name) { return Linear(name, classes_); }
  NetworkBuilder& Conv(const std::string& name, const ConvShape& shape);
  NetworkBuilder& BatchNorm(const std::string& name);
  NetworkBuilder& Relu();
  /// Halves height and width, which must both be at least 2.
  NetworkBuilder& MaxPool();
  NetworkBuilder& GlobalAveragePool();
  NetworkBuilder& Flatten();

  /// Returns a builder of layers that begins at this shape: a branch for `Residual`.
  NetworkBuilder Branch() const { return {shape_, classes_}; }
  /// ReLU of the sum of two branches, which must end with the same shape. A shortcut without layers
  /// is the identity.
  NetworkBuilder& Residual(NetworkBuilder main, NetworkBuilder shortcut);

  /// The network so far; the builder is empty afterwards.
  Network Take() { return std::move(network_); }

 private:
  NetworkBuilder(const SampleShape& shape, std::size_t classes)
      : shape_(shape), classes_(classes) {}

  SampleShape shape_;
  std::size_t classes_;
  Network network_;
};

}  // namespace ringside

#endif  // RINGSIDE_MODELS_NETWORKS_NETWORK_BUILDER_H_
