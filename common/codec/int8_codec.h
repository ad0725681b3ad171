#ifndef RINGSIDE_COMMON_CODEC_INT8_CODEC_H_
#define RINGSIDE_COMMON_CODEC_INT8_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ringside/common/codec/codec.h"

namespace ringside {

extern const CodecEntry kInt8Codec;

/// int8 (QSGD, Alistarh et al., NeurIPS 2017, with the largest magnitude of a block as its norm).
/// Every value becomes a multiple of the scale of its block, -127 to 127. It is rounded up or down
/// at random, so that the mean of the result is the value. Multiples of the scale are exact. A
/// value that is not finite makes its block NaN.
///
/// A block has 1,024 elements; the last one has the rest. The encoding of a block is its scale
/// (largest magnitude / 127), then one byte per element. A block of one element is its float.
class Int8Codec : public Codec {
 public:
  static constexpr std::size_t kBlock = 1024;

  Int8Codec(std::uint64_t seed, int rank) : seed_(seed), rank_(rank) {}

  std::size_t EncodedBytes(std::size_t elements) const override;
  void Encode(std::span<const float> values, const GradientPosition& place,
              std::span<std::byte> out) override;
  std::string Validate(const Encoding& encoding) const override;
  void Decode(const Encoding& encoding, std::size_t begin, std::span<float> out) const override;
  void Add(const Encoding& encoding, std::size_t begin, float factor,
           std::span<float> sum) const override;
  std::size_t block() const override { return kBlock; }

 private:
  const std::uint64_t seed_;
  const int rank_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_INT8_CODEC_H_
