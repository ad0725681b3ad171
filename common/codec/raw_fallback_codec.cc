#include "ringside/common/codec/raw_fallback_codec.h"

#include <algorithm>
#include <array>

#include "ringside/common/codec/codec_math.h"

namespace ringside {

namespace {

/// Whether so many bytes take as many floats as they encode.
bool SavesNothing(std::size_t bytes, std::size_t elements) {
  return (bytes + sizeof(float) - 1) / sizeof(float) >= elements;
}

/// An encoding that saves something is shorter.
bool IsRaw(const Encoding& encoding) {
  return encoding.bytes.size() == encoding.elements * sizeof(float);
}

}  // namespace

bool RawFallbackCodec::SendsRaw(std::size_t elements) const {
  return SavesNothing(codec_->EncodedBytes(elements), elements);
}

std::size_t RawFallbackCodec::EncodedBytes(std::size_t elements) const {
  const std::size_t bytes = codec_->EncodedBytes(elements);
  return SavesNothing(bytes, elements) ? elements * sizeof(float) : bytes;
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
  if (!IsRaw(encoding)) return codec_->Decode(encoding, begin, out);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = LoadFloat(encoding.bytes.data() + (begin + i) * sizeof(float));
  }
}

void RawFallbackCodec::Add(const Encoding& encoding, std::size_t begin, float factor,
                           std::span<float> sum) const {
  if (!IsRaw(encoding)) return codec_->Add(encoding, begin, factor, sum);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] += factor * LoadFloat(encoding.bytes.data() + (begin + i) * sizeof(float));
  }
}

std::size_t RawFallbackCodec::PartBytes(const Encoding& whole, std::size_t begin,
                                        std::size_t elements) const {
  const std::size_t raw = elements * sizeof(float);
  if (IsRaw(whole)) return raw;
  const std::size_t bytes = codec_->parts()->PartBytes(whole, begin, elements);
  return SavesNothing(bytes, elements) ? raw : bytes;
}

void RawFallbackCodec::CopyPart(const Encoding& whole, std::size_t begin, std::size_t elements,
                                std::span<std::byte> out) const {
  if (out.size() != elements * sizeof(float)) {
    return codec_->parts()->CopyPart(whole, begin, elements, out);
  }
  // Few at a time, since `out` may begin at an address that no float has.
  std::array<float, Codec::kAlignment> values;
  for (std::size_t done = 0; done < elements; done += values.size()) {
    const auto decoded = std::span(values).first(std::min(values.size(), elements - done));
    Decode(whole, begin + done, decoded);
    std::ranges::copy(std::as_bytes(decoded), out.subspan(done * sizeof(float)).begin());
  }
}

std::size_t RawFallbackCodec::UnpaddedBytes(const Encoding& padded) const {
  if (SavesNothing(padded.bytes.size(), padded.elements)) return padded.elements * sizeof(float);
  return codec_->parts()->UnpaddedBytes(padded);
}

std::string RawFallbackCodec::ValidatePart(const Encoding& part) const {
  return IsRaw(part) ? std::string() : codec_->parts()->ValidatePart(part);
}

}  // namespace ringside
