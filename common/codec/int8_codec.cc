#include "ringside/common/codec/int8_codec.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "ringside/common/base/counter_random.h"
#include "ringside/common/base/vector_clones.h"
#include "ringside/common/codec/codec_math.h"
#include "ringside/common/codec/raw_fallback_codec.h"

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

const std::int8_t* Quanta(const Encoding& encoding, std::size_t begin) {
  return reinterpret_cast<const std::int8_t*>(encoding.bytes.data() + kHeader + begin);
}

}  // namespace

const CodecEntry kInt8Codec{
    .name = "int8",
    .summary = "rounded at random to 255 multiples of a scale",
    .scheme = AggregationScheme::kReencodedPerHop,
    .make = [](const CodecOptions& options, int rank) -> std::unique_ptr<Codec> {
      return std::make_unique<RawFallbackCodec>(std::make_unique<Int8Codec>(options.seed, rank));
    },
};

std::size_t Int8Codec::EncodedBytes(std::size_t elements) const {
  return elements == 0 ? 0 : kHeader + elements;
}

void Int8Codec::Encode(std::span<const float> values, const GradientPosition& place,
                       std::span<std::byte> out) {
  if (values.empty()) return;
  const float largest = MaxMagnitude(values);
  const float scale =
      std::isfinite(largest) ? largest / kLargest : std::numeric_limits<float>::quiet_NaN();
  StoreFloat(out.data(), scale);
  const RandomKey key = RandomKey::Of({seed_, static_cast<std::uint64_t>(rank_),
                                       static_cast<std::uint64_t>(place.step),
                                       static_cast<std::uint64_t>(place.offset) >> 32});
  // If all values are zero, or round to zero, every quotient would be 0 / 0.
  Quantise(values.data(), reinterpret_cast<std::int8_t*>(out.data() + kHeader), values.size(),
           scale == 0 ? 1 : scale, key, static_cast<std::uint32_t>(place.offset));
}

std::string Int8Codec::Validate(const Encoding& encoding) const {
  std::string wrong = WrongLength(encoding, EncodedBytes(encoding.elements));
  if (!wrong.empty() || encoding.elements == 0) return wrong;
  const float scale = LoadFloat(encoding.bytes.data());
  return scale < 0 || std::isinf(scale) ? "its scale is negative or infinite" : "";
}

void Int8Codec::Decode(const Encoding& encoding, std::size_t begin, std::span<float> out) const {
  if (out.empty()) return;
  DecodeRun(Quanta(encoding, begin), out.data(), out.size(), LoadFloat(encoding.bytes.data()));
}

void Int8Codec::Add(const Encoding& encoding, std::size_t begin, float factor,
                    std::span<float> sum) const {
  if (sum.empty()) return;
  AddRun(Quanta(encoding, begin), sum.data(), sum.size(), LoadFloat(encoding.bytes.data()), factor);
}

std::size_t Int8Codec::PartBytes(const Encoding&, std::size_t, std::size_t elements) const {
  return EncodedBytes(elements);
}

void Int8Codec::CopyPart(const Encoding& whole, std::size_t begin, std::size_t elements,
                         std::span<std::byte> out) const {
  if (elements == 0) return;
  const auto quanta = std::ranges::copy(whole.bytes.first(kHeader), out.begin()).out;
  std::ranges::copy(whole.bytes.subspan(kHeader + begin, elements), quanta);
}

}  // namespace ringside
