#ifndef RINGSIDE_MODELS_DATA_CIFAR10_H_
#define RINGSIDE_MODELS_DATA_CIFAR10_H_

#include <cstddef>
#include <memory>
#include <string>

#include "ringside/common/data/dataset.h"

namespace ringside {

inline constexpr SampleShape kCifarShape{3, 32, 32};
inline constexpr int kCifarTrainFiles = 5;
inline constexpr std::size_t kCifarRecordsPerFile = 10'000;
inline constexpr std::size_t kCifarTrainSamples = kCifarTrainFiles * kCifarRecordsPerFile;

/// CIFAR-10 (Krizhevsky, 2009) from the six binary batches of `directory`, the content of
/// `cifar-10-binary.tar.gz`: `data_batch_1.bin` to `data_batch_5.bin` and `test_batch.bin`. Each
/// file has `records_per_file` records of a label and 3 x 32 x 32 pixels. 10 classes. Each channel
/// is normalised by its usual mean and deviation. Tests use other values of `records_per_file`.
/// Throws `DataError`.
std::unique_ptr<Dataset> MakeCifar10(const std::string& directory,
                                     std::size_t records_per_file = kCifarRecordsPerFile);

}  // namespace ringside

#endif  // RINGSIDE_MODELS_DATA_CIFAR10_H_
