#include "ringside/common/codec/int8_codec.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "ringside/common/base/counter_random.h"
#include "ringside/common/base/vector_clones.h"
#include "ringside/common/codec/codec_math.h"

namespace ringside {
namespace {

constexpr float kLargest = 127;
constexpr std::size_t kHeader = sizeof(float);

// To round at random, add u, uniform in [0, 1), and round down. The sum below is positive, so that
// cutting off its fraction rounds it down. u has 16 bits: 255 + u fits into the 24 bits of a float,
// so a value that is a whole multiple of the scale comes out exactly.
RINGSIDE_VECTOR_CLONES void Quantise(const float* in, std::int8_t* out, std::size_t count,
                                     float scale, RandomKey key, std::uint32_t counter) {
  constexpr float kShift = kLargest + 1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t bits = RandomBits(key, counter + static_cast<std::uint32_t>(i)) >> 16;
    const float up = static_cast<float>(static_cast<std::int32_t>(bits)) * 0x1p-16F;
    float shifted = in[i] / scale + (kShift + up);
    shifted = shifted >= 1 ? shifted : 1;  // also for NaN; the scale marks it
    shifted = shifted < 2 * kShift ? shifted : 2 * kShift - 1;
    out[i] = static_cast<std::int8_t>(static_cast<std::int32_t>(shifted) -
                                      static_cast<std::int32_t>(kShift));
  }
}

RINGSIDE_VECTOR_CLONES void DecodeRun(const std::int8_t* in, float* out, std::size_t count,
                                      float scale) {
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(in[i]) * scale;
}

RINGSIDE_VECTOR_CLONES void AddRun(const std::int8_t* in, float* sum, std::size_t count,
                                   float scale, float factor) {
  for (std::size_t i = 0; i < count; ++i) sum[i] += factor * (static_cast<float>(in[i]) * scale);
}

/// A block of an encoding.
struct Block {
  const std::byte* bytes;
  std::size_t elements;

  bool is_raw() const { return elements == 1; }
  /// Of a raw block its value.
  float scale() const { return LoadFloat(bytes); }
  const std::int8_t* quanta() const {
    return reinterpret_cast<const std::int8_t*>(bytes + kHeader);
  }
};

std::size_t BlockBytes(std::size_t elements) {
  return elements == 1 ? kHeader : kHeader + elements;
}

Block BlockOf(const Encoding& encoding, std::size_t index) {
  const std::size_t begin = index * Int8Codec::kBlock;
  return {encoding.bytes.data() + index * BlockBytes(Int8Codec::kBlock),
          std::min(Int8Codec::kBlock, encoding.elements - begin)};
}

/// Calls visit(block, first, part) for each block that `values` lies in: `part` of `values` begins
/// with element `first` of the block.
template <typename Visit>
void ForEachBlock(const Encoding& encoding, std::size_t begin, std::span<float> values,
                  const Visit& visit) {
  while (!values.empty()) {
    const Block block = BlockOf(encoding, begin / Int8Codec::kBlock);
    const std::size_t first = begin % Int8Codec::kBlock;
    const std::span<float> part = values.first(std::min(values.size(), block.elements - first));
    visit(block, first, part);
    begin += part.size();
    values = values.subspan(part.size());
  }
}

}  // namespace

const CodecEntry kInt8Codec{
    .name = "int8",
    .summary = "rounded at random to 255 multiples of a scale, one for 1,024 elements",
    .scheme = AggregationScheme::kReencodedPerHop,
    .make = [](const CodecOptions& options, int rank) -> std::unique_ptr<Codec> {
      return std::make_unique<Int8Codec>(options.seed, rank);
    },
};

std::size_t Int8Codec::EncodedBytes(std::size_t elements) const {
  const std::size_t rest = elements % kBlock;
  return elements / kBlock * BlockBytes(kBlock) + (rest == 0 ? 0 : BlockBytes(rest));
}

void Int8Codec::Encode(std::span<const float> values, const GradientPosition& place,
                       std::span<std::byte> out) {
  std::uint64_t offset = place.offset;
  const auto key_at = [&](std::uint64_t at) {
    return RandomKey::Of({seed_, static_cast<std::uint64_t>(rank_),
                          static_cast<std::uint64_t>(place.step), at >> 32});
  };
  RandomKey key = key_at(offset);
  while (!values.empty()) {
    const std::span<const float> block = values.first(std::min(values.size(), kBlock));
    if (block.size() == 1) {
      StoreFloat(out.data(), block.front());
      return;
    }
    const float largest = MaxMagnitude(block);
    const float scale =
        std::isfinite(largest) ? largest / kLargest : std::numeric_limits<float>::quiet_NaN();
    StoreFloat(out.data(), scale);
    // If all values are zero, or round to zero, every quotient would be 0 / 0.
    Quantise(block.data(), reinterpret_cast<std::int8_t*>(out.data() + kHeader), block.size(),
             scale == 0 ? 1 : scale, key, static_cast<std::uint32_t>(offset));
    if ((offset + block.size()) >> 32 != offset >> 32) key = key_at(offset + block.size());
    offset += block.size();
    values = values.subspan(block.size());
    out = out.subspan(BlockBytes(block.size()));
  }
}

std::string Int8Codec::Validate(const Encoding& encoding) const {
  std::string wrong = WrongLength(encoding, EncodedBytes(encoding.elements));
  if (!wrong.empty()) return wrong;
  for (std::size_t index = 0; index * kBlock < encoding.elements; ++index) {
    const Block block = BlockOf(encoding, index);
    if (!block.is_raw() && (block.scale() < 0 || std::isinf(block.scale()))) {
      return "a scale is negative or infinite";
    }
  }
  return {};
}

void Int8Codec::Decode(const Encoding& encoding, std::size_t begin, std::span<float> out) const {
  ForEachBlock(encoding, begin, out,
               [](const Block& block, std::size_t first, std::span<float> part) {
                 if (block.is_raw()) {
                   part.front() = block.scale();
                 } else {
                   DecodeRun(block.quanta() + first, part.data(), part.size(), block.scale());
                 }
               });
}

void Int8Codec::Add(const Encoding& encoding, std::size_t begin, float factor,
                    std::span<float> sum) const {
  ForEachBlock(encoding, begin, sum,
               [factor](const Block& block, std::size_t first, std::span<float> part) {
                 if (block.is_raw()) {
                   part.front() += factor * block.scale();
                 } else {
                   AddRun(block.quanta() + first, part.data(), part.size(), block.scale(), factor);
                 }
               });
}

}  // namespace ringside
