#ifndef RINGSIDE_MODELS_DATA_DIGITS_H_
#define RINGSIDE_MODELS_DATA_DIGITS_H_

#include <cstddef>
#include <memory>

#include "ringside/common/data/dataset.h"

namespace ringside {

inline constexpr SampleShape kDigitsShape{1, 8, 8};
inline constexpr std::size_t kDigitsTrainSamples = 1437;
inline constexpr std::size_t kDigitsTestSamples = 360;

/// The 1,797 handwritten digits of 1 x 8 x 8 pixels that scikit-learn has (DIGITS.md), built into
/// the library: 10 classes.
///
/// The split is always the same. The file is sorted by writer, so the samples are shuffled once
/// (Fisher-Yates, SplitMix64, a fixed seed). The first 1,437 are for training, the other 360 for
/// the test. A pixel p of 0..16 becomes (p / 16 - 0.3053) / 0.3760, with the mean and deviation
/// over all pixels of all samples.
std::unique_ptr<Dataset> MakeDigits();

}  // namespace ringside

#endif  // RINGSIDE_MODELS_DATA_DIGITS_H_
