#ifndef RINGSIDE_COMMON_CODEC_HALF_CODEC_H_
#define RINGSIDE_COMMON_CODEC_HALF_CODEC_H_

#include <cstddef>
#include <span>
#include <string>

#include "ringside/common/codec/codec.h"
#include "ringside/common/codec/half.h"

namespace ringside {

enum class HalfKind { kFp16, kBf16 };

extern const CodecEntry kFp16Codec;
extern const CodecEntry kBf16Codec;

/// fp16 and bf16: every float is sent in 16 bits. Encoding a decoded value gives the same bytes.
class HalfCodec : public Codec {
 public:
  explicit HalfCodec(HalfKind kind);

  std::size_t EncodedBytes(std::size_t elements) const override;
  void Encode(std::span<const float> values, const GradientPosition& place,
              std::span<std::byte> out) override;
  std::string Validate(const Encoding& encoding) const override;
  void Decode(const Encoding& encoding, std::size_t begin, std::span<float> out) const override;
  void Add(const Encoding& encoding, std::size_t begin, float factor,
           std::span<float> sum) const override;

 private:
  const HalfKernel kernel_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_HALF_CODEC_H_
