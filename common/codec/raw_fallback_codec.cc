#include "ringside/common/codec/raw_fallback_codec.h"

#include <algorithm>

#include "ringside/common/codec/codec_math.h"

namespace ringside {

bool RawFallbackCodec::SendsRaw(std::size_t elements) const {
  return codec_->EncodedBytes(elements) >= elements * sizeof(float);
}

std::size_t RawFallbackCodec::EncodedBytes(std::size_t elements) const {
  return std::min(codec_->EncodedBytes(elements), elements * sizeof(float));
}

void RawFallbackCodec::Encode(std::span<const float> values, const GradientPosition& place,
                              std::span<std::byte> out) {
  if (!SendsRaw(values.size())) return codec_->Encode(values, place, out);
  std::ranges::copy(std::as_bytes(values), out.begin());
}

std::string RawFallbackCodec::Validate(const Encoding& encoding) const {
  if (!SendsRaw(encoding.elements)) return codec_->Validate(encoding);
  return WrongLength(encoding, EncodedBytes(encoding.elements));
}

void RawFallbackCodec::Decode(const Encoding& encoding, std::size_t begin,
                              std::span<float> out) const {
  if (!SendsRaw(encoding.elements)) return codec_->Decode(encoding, begin, out);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = LoadFloat(encoding.bytes.data() + (begin + i) * sizeof(float));
  }
}

void RawFallbackCodec::Add(const Encoding& encoding, std::size_t begin, float factor,
                           std::span<float> sum) const {
  if (!SendsRaw(encoding.elements)) return codec_->Add(encoding, begin, factor, sum);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] += factor * LoadFloat(encoding.bytes.data() + (begin + i) * sizeof(float));
  }
}

}  // namespace ringside
