#ifndef RINGSIDE_EXPERIMENTS_CHECKPOINT_SAFETENSORS_EXPORT_H_
#define RINGSIDE_EXPERIMENTS_CHECKPOINT_SAFETENSORS_EXPORT_H_

#include <string>

#include "ringside/experiments/checkpoint/checkpoint.h"

namespace ringside {

/// Writes the parameters of a checkpoint as a safetensors file: each tensor under the model's name
/// for it, with its shape, as F32. Buffers follow as one vector called "buffers". A checkpoint is a
/// safetensors file too, but its names have sections, and it holds the state of a run as well.
/// Throws `DataError` when the checkpoint is damaged or the file cannot be written.
void ExportSafetensors(const CheckpointFile& checkpoint, const std::string& path);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CHECKPOINT_SAFETENSORS_EXPORT_H_
