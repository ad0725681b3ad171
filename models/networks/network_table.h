#ifndef RINGSIDE_MODELS_NETWORKS_NETWORK_TABLE_H_
#define RINGSIDE_MODELS_NETWORKS_NETWORK_TABLE_H_

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "ringside/models/core/model_entry.h"
#include "ringside/models/networks/network.h"

namespace ringside {

/// An entry of the table of networks.
struct NetworkEntry {
  std::string_view name;  ///< The name of the model.
  std::string_view summary;
  /// Throws `ConfigError` for options that it does not support.
  Network (*describe)(const ModelOptions&);
  bool takes_widths = false;  ///< It reads `ModelOptions::widths`.
};

/// The networks that libtorch computes. `ModelTable` and `TorchModelTable` both list them: the
/// first only with their tensors, the second with their factories.
std::span<const NetworkEntry> NetworkTable();

/// The model of a network. `make` is empty in a program without libtorch.
ModelEntry NetworkModel(const NetworkEntry& network,
                        std::function<std::unique_ptr<Model>(const ModelOptions&)> make);

}  // namespace ringside

#endif  // RINGSIDE_MODELS_NETWORKS_NETWORK_TABLE_H_
