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

/// CIFAR-10 (Krizhevsky, 2009) from the six binary batches of `directory` (what
/// `cifar-10-binary.tar.gz` holds): `data_batch_1.bin` ... `data_batch_5.bin`, `test_batch.bin`,
/// each `records_per_file` records of a label and 3 x 32 x 32 pixels. 10 classes, normalised by
/// each channel's usual mean and deviation. `records_per_file` differs from the real one in tests.
/// Throws `DataError`.
std::unique_ptr<Dataset> MakeCifar10(const std::string& directory,
                                     std::size_t records_per_file = kCifarRecordsPerFile);

}  // namespace ringside

#endif  // RINGSIDE_MODELS_DATA_CIFAR10_H_
