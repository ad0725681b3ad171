#ifndef RINGSIDE_MODELS_NETWORKS_MLP_H_
#define RINGSIDE_MODELS_NETWORKS_MLP_H_

#include "ringside/models/core/model_entry.h"
#include "ringside/models/networks/network.h"

namespace ringside {

/// Makes linear layers with ReLU between them: `options.widths` hidden ones, by default two of
/// 2048. Throws `ConfigError` for samples without elements, classes or widths below 1.
Network MlpNetwork(const ModelOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_MODELS_NETWORKS_MLP_H_
