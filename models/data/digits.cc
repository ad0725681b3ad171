#include "ringside/models/data/digits.h"

#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/splitmix64.h"
#include "ringside/models/data/digits_bytes.h"
#include "ringside/models/data/image_dataset.h"

namespace ringside {
namespace {

constexpr std::size_t kPixels = 64;
constexpr std::size_t kRecord = kPixels + 1;  // and the label
constexpr std::size_t kSamples = kDigitsTrainSamples + kDigitsTestSamples;
constexpr std::uint64_t kSplitSeed = 1797;
constexpr ChannelNorm kNorm{.scale = 16, .mean = 0.3053, .deviation = 0.3760};

std::vector<std::size_t> ShuffledOrder() {
  std::vector<std::size_t> order(kSamples);
  std::iota(order.begin(), order.end(), std::size_t{0});
  SplitMix64 random(kSplitSeed);
  for (std::size_t i = kSamples - 1; i > 0; --i)
    std::swap(order[i], order[random.Next() % (i + 1)]);
  return order;
}

ImageSplit Take(std::span<const std::uint8_t> records, std::span<const std::size_t> indices) {
  ImageSplit split;
  for (const std::size_t index : indices) {
    const auto record = records.subspan(index * kRecord, kRecord);
    split.pixels.insert(split.pixels.end(), record.begin(), record.end() - 1);
    split.labels.push_back(record.back());
  }
  return split;
}

}  // namespace

std::unique_ptr<Dataset> MakeDigits() {
  const std::span<const std::uint8_t> records = DigitsBytes();
  if (records.size() != kSamples * kRecord)
    throw InternalError("the built-in digits have " + std::to_string(records.size()) + " bytes");
  const std::vector<std::size_t> shuffled = ShuffledOrder();
  const std::span<const std::size_t> order(shuffled);
  return std::make_unique<ImageDataset>(kDigitsShape, 10, std::span(&kNorm, 1),
                                        Take(records, order.first(kDigitsTrainSamples)),
                                        Take(records, order.last(kDigitsTestSamples)));
}

}  // namespace ringside
