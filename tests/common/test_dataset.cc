#include "tests/common/test_dataset.h"

#include "ringside/common/base/splitmix64.h"

namespace ringside {
namespace {

// -1, 0 or 1.
float Noise(std::uint64_t seed) { return static_cast<float>((MixBits(seed) >> 40) % 3) - 1.0F; }

}  // namespace

std::int64_t TestDataset::Read(Split split, std::size_t index, std::span<float> out) const {
  const auto classes = static_cast<std::size_t>(classes_);
  const std::size_t label = index % classes;
  const std::uint64_t sample = 2 * index + (split == Split::kTest ? 1 : 0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = Noise((sample << 20) + i + 1) + (i % classes == label ? 3.0F : 0.0F);
  }
  return static_cast<std::int64_t>(label);
}

}  // namespace ringside
