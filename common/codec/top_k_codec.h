#ifndef RINGSIDE_COMMON_CODEC_TOP_K_CODEC_H_
#define RINGSIDE_COMMON_CODEC_TOP_K_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/codec/codec.h"

namespace ringside {

/// The indices, ascending, of the `count` <= values.size() elements of largest magnitude; of equal
/// ones those with the lowest index. NaN counts as larger than all. O(n).
std::vector<std::uint32_t> LargestMagnitudes(std::span<const float> values, std::size_t count);

/// topk:RATIO (Aji and Heafield, EMNLP 2017): of n floats the k = ceil(RATIO n) of largest
/// magnitude, exactly; the others are zero.
///
/// An encoding: for each block of 65,536 elements how many are kept (32 bits each), then the index
/// within its block of each of them, ascending (16 bits), then their values: 6 bytes for an element
/// that is kept.
class TopKCodec : public Codec {
 public:
  explicit TopKCodec(double ratio) : ratio_(ratio) {}

  /// k: at least 1 of what is not empty.
  std::size_t Kept(std::size_t elements) const;

  std::size_t EncodedBytes(std::size_t elements) const override;
  /// `values` are fewer than 2^32.
  void Encode(std::span<const float> values, const CodecPlace& place,
              std::span<std::byte> out) override;
  std::string DamageOf(const Encoding& encoding) const override;
  void Decode(const Encoding& encoding, std::size_t begin, std::span<float> out) const override;
  void Add(const Encoding& encoding, std::size_t begin, float factor,
           std::span<float> sum) const override;

 private:
  const double ratio_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_TOP_K_CODEC_H_
