#ifndef RINGSIDE_EXPERIMENTS_CHECKPOINT_CHECKPOINT_H_
#define RINGSIDE_EXPERIMENTS_CHECKPOINT_CHECKPOINT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/state_vector.h"
#include "ringside/experiments/checkpoint/tensor_file.h"

namespace ringside {

/// What a checkpoint says about the run that wrote it. A value.
struct CheckpointInfo {
  std::int64_t steps_done = 0;
  std::int64_t epoch = 0;          ///< Of the next sample: whole epochs done.
  std::int64_t step_of_epoch = 0;  ///< The steps done within that epoch.
  std::uint64_t seed = 1;
  std::int64_t global_batch = 1;
  std::string model;
  std::string data;
  std::int64_t samples = 0;  ///< For training, of all workers together.
  std::string optimizer;     ///< "sgd", "adam", "adamw"
  std::string strategy;
  std::string codec;
  int workers = 1;
};

/// What the file of the whole job keeps. Borrows everything.
struct CheckpointView {
  std::span<const TensorSpec> tensors;
  std::span<const float> params;  ///< In flat order, which is that of `tensors`.
  /// As `Optimizer::state`: vectors of as many values as there are parameters.
  std::span<const float> optimizer_state;
  std::span<const float> buffers;
  std::span<const StateVector> state;  ///< Only what is shared.
  /// What `WriteWorkerPart` returned on each worker; empty for a worker without a part.
  std::span<const std::string> worker_parts;
};

/// The same, read back.
struct Checkpoint {
  std::vector<float> params;
  std::vector<float> optimizer_state;
  std::vector<float> buffers;
  SavedState state;
};

/// Writes the part of one worker: the state that no other worker has. It is not a checkpoint until
/// `WriteCheckpoint` has written its digest, which this returns. Throws
/// as `WriteTensorFile`.
std::string WriteWorkerPart(const std::string& path, const CheckpointInfo& info, int worker,
                            std::span<const StateVector> state);

/// Writes the file of the whole job. It commits the checkpoint, so the parts of all workers must be
/// written before. Throws as `WriteTensorFile`.
void WriteCheckpoint(const std::string& path, const CheckpointInfo& info,
                     const CheckpointView& view);

/// A checkpoint that is open. Every function throws `DataError` with the place of the damage.
class CheckpointFile {
 public:
  /// Reads the header. `path` is the file of the whole job.
  explicit CheckpointFile(const std::string& path);

  const std::string& path() const { return file_.path(); }
  const CheckpointInfo& info() const { return info_; }
  std::span<const TensorFileReader::Section> sections() const { return file_.sections(); }
  /// The digest of its header, which stands for the whole checkpoint.
  const std::string& digest() const { return file_.digest(); }

  /// Throws `ConfigError` unless the model has these tensors, in this order, this many buffers, and
  /// an optimizer with this name and so many values of state.
  void CheckFits(std::span<const TensorSpec> tensors, std::size_t buffers,
                 const std::string& optimizer, std::size_t optimizer_state) const;

  bool has_part(int worker) const;
  Checkpoint Load() const;
  /// The state of one worker; empty when that worker had none. Refuses a part of another
  /// checkpoint.
  SavedState LoadPart(int worker) const;
  /// Reads all of it, with the parts of all workers.
  void CheckAll() const;

 private:
  TensorFileReader file_;
  CheckpointInfo info_;
  std::vector<std::string> worker_parts_;  // digests, by worker
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CHECKPOINT_CHECKPOINT_H_
