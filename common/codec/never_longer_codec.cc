#include "common/codec/never_longer_codec.h"

#include <algorithm>

#include "common/codec/codec_math.h"

namespace ringside {

bool NeverLongerCodec::TravelAsTheyAre(std::size_t elements) const {
  return codec_->EncodedBytes(elements) >= elements * sizeof(float);
}

std::size_t NeverLongerCodec::EncodedBytes(std::size_t elements) const {
  return std::min(codec_->EncodedBytes(elements), elements * sizeof(float));
}

void NeverLongerCodec::Encode(std::span<const float> values, const CodecPlace& place,
                              std::span<std::byte> out) {
  if (!TravelAsTheyAre(values.size())) return codec_->Encode(values, place, out);
  std::ranges::copy(std::as_bytes(values), out.begin());
}

std::string NeverLongerCodec::DamageOf(const Encoding& encoding) const {
  if (!TravelAsTheyAre(encoding.elements)) return codec_->DamageOf(encoding);
  return WrongLength(encoding, EncodedBytes(encoding.elements));
}

void NeverLongerCodec::Decode(const Encoding& encoding, std::size_t begin,
                              std::span<float> out) const {
  if (!TravelAsTheyAre(encoding.elements)) return codec_->Decode(encoding, begin, out);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = LoadFloat(encoding.bytes.data() + (begin + i) * sizeof(float));
  }
}

void NeverLongerCodec::Add(const Encoding& encoding, std::size_t begin, float factor,
                           std::span<float> sum) const {
  if (!TravelAsTheyAre(encoding.elements)) return codec_->Add(encoding, begin, factor, sum);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] += factor * LoadFloat(encoding.bytes.data() + (begin + i) * sizeof(float));
  }
}

}  // namespace ringside
