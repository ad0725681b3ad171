#ifndef RINGSIDE_COMMON_CODEC_RAW_FALLBACK_CODEC_H_
#define RINGSIDE_COMMON_CODEC_RAW_FALLBACK_CODEC_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "ringside/common/codec/codec.h"

namespace ringside {

/// Wraps any codec. Sends the floats unchanged when there are so few that encoding saves no bytes.
class RawFallbackCodec : public Codec {
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

 private:
  bool SendsRaw(std::size_t elements) const;

  std::unique_ptr<Codec> codec_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_RAW_FALLBACK_CODEC_H_
