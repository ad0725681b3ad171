#ifndef RINGSIDE_MODELS_NETWORKS_RESNET18_H_
#define RINGSIDE_MODELS_NETWORKS_RESNET18_H_

#include "ringside/models/core/model_entry.h"
#include "ringside/models/networks/network.h"

namespace ringside {

/// ResNet-18 for small images (He, Zhang, Ren and Sun, 2015: the form of section 4.2 with the
/// widths of the ImageNet networks). A first convolution of 3 x 3 without a pool, then four stages
/// of two basic blocks with 64, 128, 256 and 512 channels. 11,173,962 parameters for 3 channels and
/// 10 classes. Throws `ConfigError` for samples without elements and for classes below 1.
Network ResNet18Network(const ModelOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_MODELS_NETWORKS_RESNET18_H_
