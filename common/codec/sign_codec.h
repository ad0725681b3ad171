#ifndef RINGSIDE_COMMON_CODEC_SIGN_CODEC_H_
#define RINGSIDE_COMMON_CODEC_SIGN_CODEC_H_

#include <cstddef>
#include <span>
#include <string>

#include "ringside/common/codec/codec.h"

namespace ringside {

extern const CodecEntry kSignCodec;

/// sign (Bernstein et al., ICML 2018; with the scale and the error feedback of Karimireddy et al.,
/// ICML 2019). Every float becomes its sign times the mean magnitude. A value that is not finite
/// makes the whole encoding infinite or NaN.
///
/// An encoding is the mean magnitude, then one bit per element, which is set if the element is
/// negative.
class SignCodec : public Codec, private EncodingParts {
 public:
  std::size_t EncodedBytes(std::size_t elements) const override;
  void Encode(std::span<const float> values, const GradientPosition& place,
              std::span<std::byte> out) override;
  std::string Validate(const Encoding& encoding) const override;
  void Decode(const Encoding& encoding, std::size_t begin, std::span<float> out) const override;
  void Add(const Encoding& encoding, std::size_t begin, float factor,
           std::span<float> sum) const override;
  const EncodingParts* parts() const override { return this; }

 private:
  // A part has the magnitude of the whole.
  std::size_t PartBytes(const Encoding& whole, std::size_t begin,
                        std::size_t elements) const override;
  void CopyPart(const Encoding& whole, std::size_t begin, std::size_t elements,
                std::span<std::byte> out) const override;
  std::size_t UnpaddedBytes(const Encoding& padded) const override {
    return EncodedBytes(padded.elements);
  }
  std::string ValidatePart(const Encoding& part) const override { return Validate(part); }
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_SIGN_CODEC_H_
