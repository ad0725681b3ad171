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

/// Finds the elements of largest magnitude. Reuses its memory.
class LargestMagnitudes {
 public:
  /// Returns the indices, ascending, of the `count` <= values.size() elements of largest magnitude.
  /// Among equal magnitudes the lowest indices count. NaN counts as larger than all values. Takes
  /// O(n). The result is valid until the next call.
  std::span<const std::uint32_t> Select(std::span<const float> values, std::size_t count);

 private:
  std::vector<std::uint32_t> sample_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint64_t> selected_;
  std::vector<std::uint32_t> indices_;
};

/// topk:RATIO (Aji and Heafield, EMNLP 2017): keeps exactly the k = ceil(RATIO n) floats of largest
/// magnitude out of n. The others become zero.
///
/// An encoding holds for each block of 65,536 elements how many are kept (32 bits each), then the
/// index of each kept element within its block, ascending (16 bits), then their values. A kept
/// element takes 6 bytes. A part of an encoding is built alike, and holds those of its elements
/// that are kept.
class TopKCodec : public Codec, private EncodingParts {
 public:
  explicit TopKCodec(double ratio) : ratio_(ratio) {}

  /// Returns k: at least 1 unless there are no elements.
  std::size_t Kept(std::size_t elements) const;

  std::size_t EncodedBytes(std::size_t elements) const override;
  /// `values` has fewer than 2^32 elements.
  void Encode(std::span<const float> values, const GradientPosition& place,
              std::span<std::byte> out) override;
  std::string Validate(const Encoding& encoding) const override;
  void Decode(const Encoding& encoding, std::size_t begin, std::span<float> out) const override;
  void Add(const Encoding& encoding, std::size_t begin, float factor,
           std::span<float> sum) const override;
  const EncodingParts* parts() const override { return this; }

 private:
  std::size_t PartBytes(const Encoding& whole, std::size_t begin,
                        std::size_t elements) const override;
  void CopyPart(const Encoding& whole, std::size_t begin, std::size_t elements,
                std::span<std::byte> out) const override;
  bool PartLengthsVary() const override { return true; }
  std::size_t UnpaddedBytes(const Encoding& padded) const override;
  std::string ValidatePart(const Encoding& part) const override;

  const double ratio_;
  LargestMagnitudes largest_;  // of Encode
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_TOP_K_CODEC_H_
