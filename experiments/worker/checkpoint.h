#ifndef RINGSIDE_EXPERIMENTS_WORKER_CHECKPOINT_H_
#define RINGSIDE_EXPERIMENTS_WORKER_CHECKPOINT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/bucket_plan.h"
#include "common/optim/optimizer.h"

namespace ringside {

/// What must be equal between the run that wrote a checkpoint and the one that resumes it.
struct CheckpointIdentity {
  std::uint64_t tensors = 0;  ///< `TensorFingerprint`; bucket sizes may differ.
  std::uint64_t parameters = 0;
  std::uint64_t buffers = 0;
  OptimizerOptions::Kind optimizer = OptimizerOptions::Kind::kSgd;
  std::uint64_t optimizer_state = 0;  ///< Floats.
};

/// FNV-1a over names and sizes in order.
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

/// The file: a header of fixed size (magic, version, identity, steps), then parameters, optimizer
/// state and buffers as little-endian fp32, then a SHA-256 for each of the four parts. Plain
/// tensors, no code in them. Written under a temporary name, synced, renamed. Throws `DataError`.
void WriteCheckpoint(const std::string& path, const CheckpointIdentity& identity,
                     const CheckpointView& checkpoint);

/// Throws `DataError` with the offset of the damaged part, and `ConfigError` when the checkpoint is
/// of another model or optimizer. Lengths are checked against `expected` and the size of the file
/// before memory is taken.
Checkpoint ReadCheckpoint(const std::string& path, const CheckpointIdentity& expected);

/// `params.bin`: the 8 bytes "RSPARAM1", the number of parameters (8 bytes), 64 hex digits of their
/// SHA-256, then the parameters as little-endian fp32 in flat order.
void WriteParams(const std::string& path, std::span<const float> params);
/// Throws `DataError` when the file is damaged or longer than `max_parameters`.
std::vector<float> ReadParams(const std::string& path, std::uint64_t max_parameters);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WORKER_CHECKPOINT_H_
