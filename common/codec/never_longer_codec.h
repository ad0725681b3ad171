#ifndef RINGSIDE_COMMON_CODEC_NEVER_LONGER_CODEC_H_
#define RINGSIDE_COMMON_CODEC_NEVER_LONGER_CODEC_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "common/codec/codec.h"

namespace ringside {

/// Over any codec: so few floats that they would be no fewer bytes encoded travel as they are.
class NeverLongerCodec : public Codec {
 public:
  explicit NeverLongerCodec(std::unique_ptr<Codec> codec) : codec_(std::move(codec)) {}

  std::size_t EncodedBytes(std::size_t elements) const override;
  void Encode(std::span<const float> values, const CodecPlace& place,
              std::span<std::byte> out) override;
  std::string DamageOf(const Encoding& encoding) const override;
  void Decode(const Encoding& encoding, std::size_t begin, std::span<float> out) const override;
  void Add(const Encoding& encoding, std::size_t begin, float factor,
           std::span<float> sum) const override;

 private:
  bool TravelAsTheyAre(std::size_t elements) const;

  std::unique_ptr<Codec> codec_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_NEVER_LONGER_CODEC_H_
