#ifndef RINGSIDE_MODELS_DATA_IMAGE_DATASET_H_
#define RINGSIDE_MODELS_DATA_IMAGE_DATASET_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ringside/common/data/dataset.h"

namespace ringside {

/// Samples of one split as bytes: `labels.size()` images of `SampleShape::elements()` pixels, one
/// after the other. An image is stored channel by channel, row by row.
struct ImageSplit {
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;
};

/// How the pixels of one channel become floats: (pixel / scale - mean) / deviation.
struct ChannelNorm {
  double scale = 255;
  double mean = 0;
  double deviation = 1;
};

/// A dataset of byte images in memory, one byte per pixel. Reading normalises a pixel with one
/// table look-up. All real datasets use it; they differ only in the source of the bytes.
///
/// Immutable after construction, so it is thread-safe.
class ImageDataset : public Dataset {
 public:
  /// `norms` has one element per channel. Throws `InternalError` when sizes do not fit each other
  /// or a label is not below `classes`. Loaders check their files earlier.
  ImageDataset(const SampleShape& shape, int classes, std::span<const ChannelNorm> norms,
               ImageSplit train, ImageSplit test);

  SampleShape shape() const override { return shape_; }
  int classes() const override { return classes_; }
  std::size_t size(Split split) const override { return Of(split).labels.size(); }
  std::int64_t Read(Split split, std::size_t index, std::span<float> out) const override;

 private:
  const ImageSplit& Of(Split split) const { return split == Split::kTrain ? train_ : test_; }
  void Check(const ImageSplit& split) const;

  SampleShape shape_;
  int classes_;
  std::vector<std::array<float, 256>> tables_;  // by channel: the float for every byte value
  ImageSplit train_;
  ImageSplit test_;
};

}  // namespace ringside

#endif  // RINGSIDE_MODELS_DATA_IMAGE_DATASET_H_
