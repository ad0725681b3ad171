#include "ringside/common/codec/sign_codec.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>

#include "ringside/common/base/vector_clones.h"
#include "ringside/common/codec/codec_math.h"
#include "ringside/common/codec/raw_fallback_codec.h"

namespace ringside {
namespace {

constexpr std::size_t kHeader = sizeof(float);
constexpr std::size_t kWord = 32;  // elements whose signs are packed or unpacked at once

// The signs of 32 floats. The compiler combines the lanes with a reduction (or).
RINGSIDE_VECTOR_CLONES void PackWords(const float* in, std::byte* out, std::size_t words) {
  for (std::size_t word = 0; word < words; ++word) {
    std::uint32_t signs = 0;
    for (std::uint32_t bit = 0; bit < kWord; ++bit) {
      signs |= std::bit_cast<std::uint32_t>(in[word * kWord + bit]) >> 31 << bit;
    }
    std::memcpy(out + word * sizeof(signs), &signs, sizeof(signs));
  }
}

float Signed(float magnitude, std::uint32_t signs, std::uint32_t bit) {
  const std::uint32_t flipped = (signs >> bit & 1) << 31;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) ^ flipped);
}

RINGSIDE_VECTOR_CLONES void DecodeWords(const std::byte* in, float* out, std::size_t words,
                                        float magnitude) {
  for (std::size_t word = 0; word < words; ++word) {
    std::uint32_t signs;
    std::memcpy(&signs, in + word * sizeof(signs), sizeof(signs));
    for (std::uint32_t bit = 0; bit < kWord; ++bit) {
      const std::uint32_t flipped = (signs >> bit & 1) << 31;
      out[word * kWord + bit] =
          std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) ^ flipped);
    }
  }
}

RINGSIDE_VECTOR_CLONES void AddWords(const std::byte* in, float* sum, std::size_t words,
                                     float magnitude) {
  for (std::size_t word = 0; word < words; ++word) {
    std::uint32_t signs;
    std::memcpy(&signs, in + word * sizeof(signs), sizeof(signs));
    for (std::uint32_t bit = 0; bit < kWord; ++bit) {
      const std::uint32_t flipped = (signs >> bit & 1) << 31;
      sum[word * kWord + bit] +=
          std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) ^ flipped);
    }
  }
}

/// The signs of the `count` < 32 elements that follow the last whole word.
std::uint32_t LastSigns(const std::byte* in, std::size_t count) {
  std::uint32_t signs = 0;
  std::memcpy(&signs, in, (count + 7) / 8);
  return signs;
}

const std::byte* SignsFrom(const Encoding& encoding, std::size_t begin) {
  return encoding.bytes.data() + kHeader + begin / 8;
}

}  // namespace

const CodecEntry kSignCodec{
    .name = "sign",
    .summary = "signs and the mean magnitude",
    .scheme = AggregationScheme::kGathered,
    .error_feedback = true,
    .make = [](const CodecOptions&, int /*rank*/) -> std::unique_ptr<Codec> {
      return std::make_unique<RawFallbackCodec>(std::make_unique<SignCodec>());
    },
};

std::size_t SignCodec::EncodedBytes(std::size_t elements) const {
  return elements == 0 ? 0 : kHeader + (elements + 7) / 8;
}

void SignCodec::Encode(std::span<const float> values, const GradientPosition&,
                       std::span<std::byte> out) {
  if (values.empty()) return;
  StoreFloat(out.data(), MeanMagnitude(values));
  const std::size_t words = values.size() / kWord;
  PackWords(values.data(), out.data() + kHeader, words);
  const auto rest = values.subspan(words * kWord);
  std::uint32_t signs = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    signs |= std::bit_cast<std::uint32_t>(rest[i]) >> 31 << i;
  }
  std::memcpy(out.data() + kHeader + words * sizeof(signs), &signs, (rest.size() + 7) / 8);
}

std::string SignCodec::Validate(const Encoding& encoding) const {
  return WrongLength(encoding, EncodedBytes(encoding.elements));
}

void SignCodec::Decode(const Encoding& encoding, std::size_t begin, std::span<float> out) const {
  if (out.empty()) return;
  const float magnitude = LoadFloat(encoding.bytes.data());
  const std::size_t words = out.size() / kWord;
  DecodeWords(SignsFrom(encoding, begin), out.data(), words, magnitude);
  const auto rest = out.subspan(words * kWord);
  const std::uint32_t signs = LastSigns(SignsFrom(encoding, begin + words * kWord), rest.size());
  for (std::uint32_t i = 0; i < rest.size(); ++i) rest[i] = Signed(magnitude, signs, i);
}

void SignCodec::Add(const Encoding& encoding, std::size_t begin, float factor,
                    std::span<float> sum) const {
  if (sum.empty()) return;
  const float magnitude = factor * LoadFloat(encoding.bytes.data());
  const std::size_t words = sum.size() / kWord;
  AddWords(SignsFrom(encoding, begin), sum.data(), words, magnitude);
  const auto rest = sum.subspan(words * kWord);
  const std::uint32_t signs = LastSigns(SignsFrom(encoding, begin + words * kWord), rest.size());
  for (std::uint32_t i = 0; i < rest.size(); ++i) rest[i] += Signed(magnitude, signs, i);
}

std::size_t SignCodec::PartBytes(const Encoding&, std::size_t, std::size_t elements) const {
  return EncodedBytes(elements);
}

void SignCodec::CopyPart(const Encoding& whole, std::size_t begin, std::size_t elements,
                         std::span<std::byte> out) const {
  if (elements == 0) return;
  const auto signs = std::ranges::copy(whole.bytes.first(kHeader), out.begin()).out;
  std::ranges::copy(whole.bytes.subspan(kHeader + begin / 8, (elements + 7) / 8), signs);
}

}  // namespace ringside
