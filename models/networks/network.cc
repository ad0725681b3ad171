#include "ringside/models/networks/network.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace ringside {
namespace {

/// Collects tensors in the order in which the forward pass reads them.
class TensorList {
 public:
  void Add(const std::vector<LayerSpec>& layers) {
    for (const LayerSpec& layer : layers) std::visit(*this, layer.kind);
  }

  void operator()(const LinearSpec& linear) {
    Add(linear.name + ".bias", {linear.outputs});
    Add(linear.name + ".weight", {linear.outputs, linear.inputs});
  }
  void operator()(const ConvSpec& conv) {
    if (conv.bias) Add(conv.name + ".bias", {conv.out_channels});
    Add(conv.name + ".weight", {conv.out_channels, conv.in_channels, conv.kernel, conv.kernel});
  }
  void operator()(const BatchNormSpec& norm) {
    Add(norm.name + ".bias", {norm.channels});
    Add(norm.name + ".weight", {norm.channels});
  }
  void operator()(const ResidualSpec& residual) {
    Add(residual.main);
    Add(residual.shortcut);
  }
  void operator()(const ReluSpec&) {}
  void operator()(const MaxPoolSpec&) {}
  void operator()(const GlobalAveragePoolSpec&) {}
  void operator()(const FlattenSpec&) {}

  std::vector<TensorSpec> InBackwardOrder() && {
    std::ranges::reverse(tensors_);
    return std::move(tensors_);
  }

 private:
  void Add(std::string name, const std::vector<std::size_t>& shape) {
    TensorSpec tensor{.name = std::move(name), .elements = 1};
    for (const std::size_t size : shape) {
      tensor.elements *= size;
      tensor.shape.push_back(static_cast<std::int64_t>(size));
    }
    tensors_.push_back(std::move(tensor));
  }

  std::vector<TensorSpec> tensors_;
};

}  // namespace

std::vector<TensorSpec> TensorsOf(const Network& network) {
  TensorList list;
  list.Add(network.layers);
  return std::move(list).InBackwardOrder();
}

}  // namespace ringside
