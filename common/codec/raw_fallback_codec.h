#ifndef RINGSIDE_COMMON_CODEC_RAW_FALLBACK_CODEC_H_
#define RINGSIDE_COMMON_CODEC_RAW_FALLBACK_CODEC_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "ringside/common/codec/codec.h"

namespace ringside {

/// Wraps a codec with `parts`. Sends the floats unchanged when an encoding would take as many
/// floats on the wire. Such a part of an encoding is sent decoded.
class RawFallbackCodec : public Codec, private EncodingParts {
 public:
  explicit RawFallbackCodec(std::unique_ptr<Codec> codec) : codec_(std::move(codec)) {}

  std::size_t EncodedBytes(std::size_t elements) const override;
  void Encode(std::span<const float> values, const GradientPosition& place,
              std::span<std::byte> out) override;
  std::string Validate(const Encoding& encoding) const override;
  void Decode(const Encoding& encoding, std::size_t begin, std::span<float> out) const override;
  void Add(const Encoding& encoding, std::size_t begin, float factor,
           std::span<float> sum) const override;
  std::span<float> Residual() override { return codec_->Residual(); }
  const EncodingParts* parts() const override { return this; }

 private:
  std::size_t PartBytes(const Encoding& whole, std::size_t begin,
                        std::size_t elements) const override;
  void CopyPart(const Encoding& whole, std::size_t begin, std::size_t elements,
                std::span<std::byte> out) const override;
  bool PartLengthsVary() const override { return codec_->parts()->PartLengthsVary(); }
  std::size_t UnpaddedBytes(const Encoding& padded) const override;
  std::string ValidatePart(const Encoding& part) const override;

  bool SendsRaw(std::size_t elements) const;

  std::unique_ptr<Codec> codec_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_RAW_FALLBACK_CODEC_H_
