#include "ringside/models/data/image_dataset.h"

#include <algorithm>
#include <string>
#include <utility>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

std::array<float, 256> MakeTable(const ChannelNorm& norm) {
  std::array<float, 256> table{};
  for (std::size_t pixel = 0; pixel < table.size(); ++pixel) {
    table[pixel] =
        static_cast<float>((static_cast<double>(pixel) / norm.scale - norm.mean) / norm.deviation);
  }
  return table;
}

}  // namespace

ImageDataset::ImageDataset(const SampleShape& shape, int classes,
                           std::span<const ChannelNorm> norms, ImageSplit train, ImageSplit test)
    : shape_(shape), classes_(classes), train_(std::move(train)), test_(std::move(test)) {
  if (norms.size() != shape.channels) throw InternalError("one norm a channel is needed");
  for (const ChannelNorm& norm : norms) tables_.push_back(MakeTable(norm));
  Check(train_);
  Check(test_);
}

void ImageDataset::Check(const ImageSplit& split) const {
  if (split.pixels.size() != split.labels.size() * shape_.elements()) {
    throw InternalError("a split has " + std::to_string(split.labels.size()) + " labels and " +
                        std::to_string(split.pixels.size()) + " pixels");
  }
  if (std::ranges::any_of(split.labels, [&](std::uint8_t label) { return label >= classes_; }))
    throw InternalError("a label is out of range");
}

std::int64_t ImageDataset::Read(Split split, std::size_t index, std::span<float> out) const {
  const ImageSplit& data = Of(split);
  const std::uint8_t* pixel = data.pixels.data() + index * shape_.elements();
  const std::size_t plane = shape_.height * shape_.width;
  float* to = out.data();
  for (const auto& table : tables_) {
    for (std::size_t i = 0; i < plane; ++i) *to++ = table[*pixel++];
  }
  return data.labels[index];
}

}  // namespace ringside
