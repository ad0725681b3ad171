#ifndef RINGSIDE_COMMON_CODEC_INT8_CODEC_H_
#define RINGSIDE_COMMON_CODEC_INT8_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ringside/common/codec/codec.h"

namespace ringside {

extern const CodecEntry kInt8Codec;

/// int8 (QSGD, Alistarh et al., NeurIPS 2017, with one scale per encoding). Every value becomes a
/// multiple of the scale, -127 to 127. It is rounded up or down at random, so that the mean of the
/// result is the value. Multiples of the scale are exact. A value that is not finite makes the
/// whole encoding NaN.
///
/// An encoding is the scale (largest magnitude / 127), then one byte per element.
class Int8Codec : public Codec, private EncodingParts {
 public:
  Int8Codec(std::uint64_t seed, int rank) : seed_(seed), rank_(rank) {}

  std::size_t EncodedBytes(std::size_t elements) const override;
  void Encode(std::span<const float> values, const GradientPosition& place,
              std::span<std::byte> out) override;
  std::string Validate(const Encoding& encoding) const override;
  void Decode(const Encoding& encoding, std::size_t begin, std::span<float> out) const override;
  void Add(const Encoding& encoding, std::size_t begin, float factor,
           std::span<float> sum) const override;
  const EncodingParts* parts() const override { return this; }

 private:
  // A part has the scale of the whole.
  std::size_t PartBytes(const Encoding& whole, std::size_t begin,
                        std::size_t elements) const override;
  void CopyPart(const Encoding& whole, std::size_t begin, std::size_t elements,
                std::span<std::byte> out) const override;
  std::size_t UnpaddedBytes(const Encoding& padded) const override {
    return EncodedBytes(padded.elements);
  }
  std::string ValidatePart(const Encoding& part) const override { return Validate(part); }

  const std::uint64_t seed_;
  const int rank_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_INT8_CODEC_H_
