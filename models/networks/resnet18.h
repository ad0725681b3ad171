#ifndef RINGSIDE_MODELS_NETWORKS_RESNET18_H_
#define RINGSIDE_MODELS_NETWORKS_RESNET18_H_

#include "ringside/models/core/model_entry.h"
#include "ringside/models/networks/network.h"

namespace ringside {

/// ResNet-18 in its variant for small images (He, Zhang, Ren and Sun, 2015, section 4.2 with the
/// widths of ImageNet's): a first convolution of 3 x 3 without pool, four stages of two basic
/// blocks of 64, 128, 256 and 512 channels. 11,173,962 parameters for 3 channels and 10 classes.
/// Throws `ConfigError` for samples without elements and classes below 1.
Network ResNet18Network(const ModelOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_MODELS_NETWORKS_RESNET18_H_
