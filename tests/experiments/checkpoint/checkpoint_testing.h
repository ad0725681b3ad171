#ifndef RINGSIDE_TESTS_EXPERIMENTS_CHECKPOINT_CHECKPOINT_TESTING_H_
#define RINGSIDE_TESTS_EXPERIMENTS_CHECKPOINT_CHECKPOINT_TESTING_H_

#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "ringside/experiments/checkpoint/checkpoint.h"
#include "ringside/experiments/checkpoint/checkpoint_folder.h"

namespace ringside {

inline void Overwrite(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

/// A small checkpoint of two workers, with a part for each.
struct SmallCheckpoint {
  CheckpointInfo info{.steps_done = 42,
                      .epoch = 2,
                      .step_of_epoch = 2,
                      .seed = 7,
                      .global_batch = 64,
                      .model = "mlp",
                      .data = "digits",
                      .samples = 1437,
                      .optimizer = "adam",
                      .strategy = "ring",
                      .codec = "topk:0.01",
                      .workers = 2};
  std::array<TensorSpec, 2> tensors{TensorSpec{"fc.weight", 2, {2, 1}}, TensorSpec{"fc.bias", 1}};
  std::vector<float> params{1, 2, 3};
  std::vector<float> optimizer_state{4, 5, 6, 7, 8, 9};
  std::vector<float> buffers{10};
  std::vector<float> shared{11, 12};
  std::array<std::vector<float>, 2> own{{{13, 14, 15}, {16, 17, 18}}};

  /// Writes it as step `info.steps_done` into the folder. Returns the path of the job's file.
  std::string Write(const std::string& folder) {
    const std::string path = CheckpointPath(folder, info.steps_done);
    std::vector<std::string> parts;
    for (int worker = 0; worker < info.workers; ++worker) {
      const StateVector residual{.name = "residual",
                                 .values = own[static_cast<std::size_t>(worker)]};
      parts.push_back(
          WriteWorkerPart(WorkerPartPath(path, worker), info, worker, std::span(&residual, 1)));
    }
    const StateVector momentum{.name = "outer-momentum", .values = shared, .shared = true};
    WriteCheckpoint(path, info,
                    {.tensors = tensors,
                     .params = params,
                     .optimizer_state = optimizer_state,
                     .buffers = buffers,
                     .state = std::span(&momentum, 1),
                     .worker_parts = parts});
    return path;
  }
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_CHECKPOINT_CHECKPOINT_TESTING_H_
