#ifndef RINGSIDE_COMMON_CODEC_TOP_K_CODEC_H_
#define RINGSIDE_COMMON_CODEC_TOP_K_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ringside/common/codec/codec.h"

namespace ringside {

extern const CodecEntry kTopKCodec;

/// Finds the elements of largest magnitude, in memory that it uses again and again.
class LargestMagnitudes {
 public:
  /// The indices, ascending, of the `count` <= values.size() elements of largest magnitude; of
  /// equal ones those with the lowest index. NaN counts as larger than all. O(n). They stay until
  /// the next call.
  std::span<const std::uint32_t> Select(std::span<const float> values, std::size_t count);

 private:
  std::vector<std::uint32_t> sample_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint64_t> selected_;
  std::vector<std::uint32_t> indices_;
};

/// topk:RATIO (Aji and Heafield, EMNLP 2017): of n floats the k = ceil(RATIO n) of largest
/// magnitude, exactly; the others are zero.
///
/// An encoding: for each block of 65,536 elements how many are kept (32 bits each), then the index
/// within its block of each of them, ascending (16 bits), then their values: 6 bytes for an element
/// that is kept.
class TopKCodec : public Codec {
 public:
  explicit TopKCodec(double ratio) : ratio_(ratio) {}

  /// Returns k: at least 1 unless there are no elements.
  std::size_t Kept(std::size_t elements) const;

  std::size_t EncodedBytes(std::size_t elements) const override;
  /// `values` are fewer than 2^32.
  void Encode(std::span<const float> values, const GradientPosition& place,
              std::span<std::byte> out) override;
  std::string Validate(const Encoding& encoding) const override;
  void Decode(const Encoding& encoding, std::size_t begin, std::span<float> out) const override;
  void Add(const Encoding& encoding, std::size_t begin, float factor,
           std::span<float> sum) const override;

 private:
  const double ratio_;
  LargestMagnitudes largest_;          // of Encode
  std::vector<std::uint32_t> counts_;  // likewise: elements kept, by block
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_TOP_K_CODEC_H_
