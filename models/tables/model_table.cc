#include "ringside/models/tables/model_table.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ringside/models/cuda/cuda_models.h"
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

/// Only the Python package makes this model, in the process of the user's program.
ModelEntry UserProgram() {
  return {.name = std::string(kProgramModel),
          .summary = "a program of your own: ringside train ... -- python3 train.py",
          .traits = {.reads_samples = false, .is_program = true, .tensors_known = false},
          .make = nullptr,
          .tensors = [](const ModelOptions&) { return std::vector<TensorSpec>(); }};
}

/// Only a program with libtorch makes this model.
ModelEntry Script() {
  return {.name = std::string(kScriptModel),
          .summary = "a module that torch.jit.save wrote: script:FILE, with --loss",
          .traits = {.needs_libtorch = true,
                     .takes_file = true,
                     .takes_loss = true,
                     .tensors_known = false},
          .make = nullptr,
          .tensors = [](const ModelOptions&) { return std::vector<TensorSpec>(); }};
}

std::vector<ModelEntry> MakeTable() {
  std::vector<ModelEntry> table;
  for (const NetworkEntry& network : NetworkTable()) {
    table.push_back(NetworkModel(network, nullptr));
  }
  for (ModelEntry& model : CudaModels()) table.push_back(std::move(model));
  table.push_back(Script());
  for (const ProfileEntry& profile : ProfileTable()) table.push_back(EntryOf(profile));
  table.push_back(UserProgram());
  return table;
}

}  // namespace

std::span<const ModelEntry> ModelTable() {
  static const std::vector<ModelEntry> table = MakeTable();
  return table;
}

}  // namespace ringside
