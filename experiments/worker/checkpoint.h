#ifndef RINGSIDE_EXPERIMENTS_WORKER_CHECKPOINT_H_
#define RINGSIDE_EXPERIMENTS_WORKER_CHECKPOINT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/optim/optimizer.h"

namespace ringside {

/// The values that must be equal in the run that wrote a checkpoint and the run that resumes it.
struct CheckpointIdentity {
  std::uint64_t tensors = 0;  ///< `TensorFingerprint`; bucket sizes may differ.
  std::uint64_t parameters = 0;
  std::uint64_t buffers = 0;
  OptimizerOptions::Kind optimizer = OptimizerOptions::Kind::kSgd;
  std::uint64_t optimizer_state = 0;  ///< In floats.
};

/// The FNV-1a hash of the tensors' names and sizes, in order.
std::uint64_t TensorFingerprint(std::span<const TensorSpec> tensors);

struct CheckpointView {
  std::int64_t steps_done = 0;
  std::span<const float> params;
  std::span<const float> optimizer_state;
  std::span<const float> buffers;
};

struct Checkpoint {
  std::int64_t steps_done = 0;
  std::vector<float> params;
  std::vector<float> optimizer_state;
  std::vector<float> buffers;
};

/// Writes a checkpoint: a header of fixed size (magic, version, identity, steps), then parameters,
/// optimizer state and buffers as little-endian fp32, then a SHA-256 for each of the four parts.
/// The file holds no code. Writes under a temporary name, syncs, renames. Throws `DataError`.
void WriteCheckpoint(const std::string& path, const CheckpointIdentity& identity,
                     const CheckpointView& checkpoint);

/// Reads a checkpoint. Throws `DataError` with the offset of the damaged part, and `ConfigError`
/// when the checkpoint is of another model or optimizer. Checks the lengths against `expected` and
/// the file's size before it allocates memory.
Checkpoint ReadCheckpoint(const std::string& path, const CheckpointIdentity& expected);

/// Writes `params.bin`: the 8 bytes "RSPARAM1", the number of parameters (8 bytes), 64 hex digits
/// of their SHA-256, then the parameters as little-endian fp32 in flat order.
void WriteParams(const std::string& path, std::span<const float> params);
/// Reads `params.bin`. Throws `DataError` when the file is damaged or longer than `max_parameters`.
std::vector<float> ReadParams(const std::string& path, std::uint64_t max_parameters);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WORKER_CHECKPOINT_H_
