#ifndef RINGSIDE_MODELS_NETWORKS_CNN_H_
#define RINGSIDE_MODELS_NETWORKS_CNN_H_

#include "ringside/models/core/model_entry.h"
#include "ringside/models/networks/network.h"

namespace ringside {

/// Makes two convolutions of 64 and 128 channels, each with ReLU and a 2 x 2 pool (left out where
/// an image is too small), a linear layer of 512 and one of `classes`. Throws `ConfigError` for
/// samples without elements and classes below 1.
Network CnnNetwork(const ModelOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_MODELS_NETWORKS_CNN_H_
