#ifndef RINGSIDE_EXPERIMENTS_CHECKPOINT_PARAMS_FILE_H_
#define RINGSIDE_EXPERIMENTS_CHECKPOINT_PARAMS_FILE_H_

#include <span>
#include <string>
#include <vector>

namespace ringside {

/// Writes `params.bin`: the 8 bytes "RSPARAM1", the number of parameters (8 bytes), 64 hex digits
/// of their SHA-256, then the parameters as little-endian fp32 in flat order.
void WriteParams(const std::string& path, std::span<const float> params);
/// Reads `params.bin`. Throws `DataError` when the file is missing or damaged.
std::vector<float> ReadParams(const std::string& path);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CHECKPOINT_PARAMS_FILE_H_
