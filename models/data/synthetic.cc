#include "ringside/models/data/synthetic.h"

#include <span>
#include <utility>
#include <vector>

#include "ringside/common/base/splitmix64.h"
#include "ringside/models/data/image_dataset.h"

namespace ringside {
namespace {

constexpr int kClasses = 10;
// The noise of a pixel is the mean of two bytes: a triangular distribution around 127.5 with
// deviation 52.3.
constexpr int kSignal = 17;
constexpr ChannelNorm kNorm{.scale = 1, .mean = 127.5, .deviation = 55};

// For each class and pixel, what is added to the noise: +kSignal or -kSignal.
std::vector<int> MakePatterns(SplitMix64& random) {
  std::vector<int> patterns(kSyntheticShape.elements() * kClasses);
  for (int& level : patterns) level = random.Next() % 2 == 0 ? kSignal : -kSignal;
  return patterns;
}

// Returns a clamped byte. Four pixels share one 64-bit random number, because every worker makes
// all samples at its start.
std::uint8_t Pixel(std::uint64_t draw, int signal) {
  const int noise = static_cast<int>((draw & 0xff) + (draw >> 8 & 0xff)) / 2;
  const int value = noise + signal;
  return static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

ImageSplit MakeSplit(const std::vector<int>& patterns, std::size_t samples, SplitMix64& random) {
  constexpr std::size_t kPixelsPerDraw = 4;
  const std::size_t elements = kSyntheticShape.elements();
  ImageSplit split;
  split.pixels.resize(samples * elements);
  for (std::size_t sample = 0; sample < samples; ++sample) {
    const std::size_t label = random.Next() % kClasses;
    split.labels.push_back(static_cast<std::uint8_t>(label));
    const int* pattern = patterns.data() + label * elements;
    std::uint8_t* pixels = split.pixels.data() + sample * elements;
    for (std::size_t i = 0; i < elements; i += kPixelsPerDraw) {
      const std::uint64_t draw = random.Next();
      for (std::size_t j = 0; j < kPixelsPerDraw; ++j)
        pixels[i + j] = Pixel(draw >> (16 * j), pattern[i + j]);
    }
  }
  return split;
}

class NoData : public Dataset {
 public:
  SampleShape shape() const override { return kNoShape; }
  int classes() const override { return 1; }
  std::size_t size(Split split) const override {
    return split == Split::kTrain ? kNoDataSamples : 0;
  }
  std::int64_t Read(Split, std::size_t, std::span<float>) const override { return 0; }
};

}  // namespace

std::unique_ptr<Dataset> MakeSynthetic(std::uint64_t seed) {
  SplitMix64 random(seed);
  const std::vector<int> patterns = MakePatterns(random);
  ImageSplit train = MakeSplit(patterns, kSyntheticTrainSamples, random);
  ImageSplit test = MakeSplit(patterns, kSyntheticTestSamples, random);
  return std::make_unique<ImageDataset>(kSyntheticShape, kClasses, std::span(&kNorm, 1),
                                        std::move(train), std::move(test));
}

std::unique_ptr<Dataset> MakeNoData() { return std::make_unique<NoData>(); }

}  // namespace ringside
