#include "ringside/common/codec/half_codec.h"

#include <algorithm>
#include <array>
#include <memory>

#include "ringside/common/codec/codec_math.h"

namespace ringside {
namespace {

constexpr std::size_t kBytes = 2;  // of an encoded float

template <HalfKind kind>
std::unique_ptr<Codec> Make(const CodecOptions&, int /*rank*/) {
  return std::make_unique<HalfCodec>(kind);
}

}  // namespace

const CodecEntry kFp16Codec{
    .name = "fp16",
    .summary = "rounded to 16 bits, 11 of them of precision",
    .scheme = AggregationScheme::kReencodedPerHop,
    .to_nearest = true,
    .make = Make<HalfKind::kFp16>,
};

const CodecEntry kBf16Codec{
    .name = "bf16",
    .summary = "rounded to 16 bits, 8 of them of precision, with the range of fp32",
    .scheme = AggregationScheme::kReencodedPerHop,
    .to_nearest = true,
    .make = Make<HalfKind::kBf16>,
};

HalfCodec::HalfCodec(HalfKind kind)
    : kernel_(kind == HalfKind::kFp16 ? Fp16Kernel() : Bf16Kernel()) {}

std::size_t HalfCodec::EncodedBytes(std::size_t elements) const { return elements * kBytes; }

void HalfCodec::Encode(std::span<const float> values, const GradientPosition&,
                       std::span<std::byte> out) {
  kernel_.encode(values.data(), out.data(), values.size());
}

std::string HalfCodec::Validate(const Encoding& encoding) const {
  return WrongLength(encoding, EncodedBytes(encoding.elements));
}

void HalfCodec::Decode(const Encoding& encoding, std::size_t begin, std::span<float> out) const {
  kernel_.decode(encoding.bytes.data() + begin * kBytes, out.data(), out.size());
}

void HalfCodec::Add(const Encoding& encoding, std::size_t begin, float factor,
                    std::span<float> sum) const {
  std::array<float, 1024> values;  // stays in the first-level cache
  for (std::size_t done = 0; done < sum.size(); done += values.size()) {
    const std::span<float> part = sum.subspan(done, std::min(values.size(), sum.size() - done));
    const std::span<float> decoded = std::span(values).first(part.size());
    Decode(encoding, begin + done, decoded);
    AddScaled(factor, decoded, part);
  }
}

}  // namespace ringside
