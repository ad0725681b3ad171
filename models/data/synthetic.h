#ifndef RINGSIDE_MODELS_DATA_SYNTHETIC_H_
#define RINGSIDE_MODELS_DATA_SYNTHETIC_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ringside/common/data/dataset.h"

namespace ringside {

inline constexpr SampleShape kSyntheticShape{1, 28, 28};
inline constexpr std::size_t kSyntheticTrainSamples = 8192;
inline constexpr std::size_t kSyntheticTestSamples = 2048;
inline constexpr SampleShape kNoShape{0, 0, 0};
inline constexpr std::size_t kNoDataSamples = 1'000'000;

/// Makes 1 x 28 x 28 inputs (784) of 10 classes from the seed alone. Every class has a random
/// pattern of two levels. A sample is the pattern of its class plus noise that is three times as
/// strong, so a model can learn it. Mean about zero, deviation about one. 8 MB.
std::unique_ptr<Dataset> MakeSynthetic(std::uint64_t seed);

/// Makes a dataset without data: 1,000,000 virtual training samples of zero elements and one class,
/// and no test samples. For profile models, which read no samples.
std::unique_ptr<Dataset> MakeNoData();

}  // namespace ringside

#endif  // RINGSIDE_MODELS_DATA_SYNTHETIC_H_
