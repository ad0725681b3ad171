// ringside-worker: one worker with every model of this build; the only executable that loads
// libtorch. Started by `ringside`.
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "experiments/worker/worker.h"
#include "models/model_table.h"
#include "models/torch/torch_model_table.h"

namespace ringside {
namespace {

/// The models of libtorch, then those that need none.
std::vector<ModelEntry> AllModels() {
  std::vector<ModelEntry> models(TorchModelTable().begin(), TorchModelTable().end());
  for (const ModelEntry& entry : ModelTable()) {
    if (entry.make != nullptr) models.push_back(entry);
  }
  return models;
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  try {
    const std::vector<ringside::ModelEntry> models = ringside::AllModels();
    return ringside::RunWorker({argv + 1, argv + argc}, models);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
