#include "ringside/models/networks/cnn.h"

#include <algorithm>

#include "ringside/models/networks/network_builder.h"

namespace ringside {
namespace {

void AddStage(NetworkBuilder& network, const std::string& name, std::size_t channels) {
  network.Conv(name, {.outputs = channels}).Relu();
  if (std::min(network.shape().height, network.shape().width) >= 2) network.MaxPool();
}

}  // namespace

Network CnnNetwork(const ModelOptions& options) {
  NetworkBuilder network(options);
  AddStage(network, "conv1", 64);
  AddStage(network, "conv2", 128);
  network.Flatten().Linear("linear1", 512).Relu().Logits("linear2");
  return network.Take();
}

}  // namespace ringside
