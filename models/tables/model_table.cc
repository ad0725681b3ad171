#include "ringside/models/tables/model_table.h"

#include <memory>
#include <string>
#include <vector>

#include "ringside/models/networks/network_table.h"
#include "ringside/models/profile/profile_model.h"
#include "ringside/models/profile/profile_table.h"

namespace ringside {
namespace {

ModelEntry EntryOf(const ProfileEntry& profile) {
  return {.name = std::string(profile.name),
          .summary = std::string(profile.summary),
          .traits = {.emulates_compute = true, .reads_samples = false},
          .make = [make = profile.make](const ModelOptions& options) -> std::unique_ptr<Model> {
            return std::make_unique<ProfileModel>(make(), options.compute_ms);
          },
          .tensors = [make = profile.make](const ModelOptions&) { return TensorsOf(make()); }};
}

std::vector<ModelEntry> MakeTable() {
  std::vector<ModelEntry> table;
  for (const NetworkEntry& network : NetworkTable()) {
    table.push_back(NetworkModel(network, nullptr));
  }
  for (const ProfileEntry& profile : ProfileTable()) table.push_back(EntryOf(profile));
  return table;
}

}  // namespace

std::span<const ModelEntry> ModelTable() {
  static const std::vector<ModelEntry> table = MakeTable();
  return table;
}

}  // namespace ringside
