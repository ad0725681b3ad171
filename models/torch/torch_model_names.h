#ifndef RINGSIDE_MODELS_TORCH_TORCH_MODEL_NAMES_H_
#define RINGSIDE_MODELS_TORCH_TORCH_MODEL_NAMES_H_

#include <array>
#include <string_view>
#include <vector>

#include "models/torch/network_tensors.h"

namespace ringside {

/// Name, summary and tensors of a model that needs libtorch, for binaries with and without it.
struct TorchModelName {
  std::string_view name;
  std::string_view summary;
  std::vector<TensorSpec> (*tensors)(const ModelOptions&);
};

inline constexpr std::array<TorchModelName, 3> kTorchModelNames{{
    {"mlp", "linear layers with ReLU, two hidden ones of 2048 unless --hidden says otherwise",
     MlpTensors},
    {"cnn", "two convolutions and two linear layers", CnnTensors},
    {"resnet18", "ResNet-18 for small images, with batch normalisation", ResNet18Tensors},
}};

}  // namespace ringside

#endif  // RINGSIDE_MODELS_TORCH_TORCH_MODEL_NAMES_H_
