#ifndef RINGSIDE_MODELS_DATA_NPZ_H_
#define RINGSIDE_MODELS_DATA_NPZ_H_

#include <cstddef>
#include <memory>
#include <string>

#include "ringside/common/base/memory_region.h"
#include "ringside/common/data/dataset.h"

namespace ringside {

/// Reads a dataset that `numpy.savez` wrote: arrays `x_train` and `y_train`, and `x_test` and
/// `y_test` for a test split, as Keras stores its datasets. The first dimension counts the samples.
///
/// - x: (n), (n, width), (n, height, width) or (n, channels, height, width), of float32, float64,
///   uint8, int32 or int64. Floats and bytes become float32, as they are; int32 and int64 are
///   integer inputs.
/// - y: integers of shape (n), which are classes from 0; or floats of shape (n) or (n, k), which
///   are k targets.
///
/// Arrays are in C order and little-endian. Throws `DataError` with the path and the array for
/// everything else, before it takes memory that the file does not fill, and for an array that is
/// longer than `memory` bytes (0: unknown).
std::unique_ptr<Dataset> MakeNpz(const std::string& path, std::size_t memory = AvailableMemory());

}  // namespace ringside

#endif  // RINGSIDE_MODELS_DATA_NPZ_H_
