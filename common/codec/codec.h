#ifndef RINGSIDE_COMMON_CODEC_CODEC_H_
#define RINGSIDE_COMMON_CODEC_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "common/codec_options.h"

namespace ringside {

/// Where the floats of an encoding come from. Randomness is a function of the codec's seed and rank
/// and of these two, so runs repeat.
struct CodecPlace {
  std::size_t offset = 0;  ///< Of the first float in the flat gradient vector.
  std::int64_t step = 0;
};

/// Bytes that stand for so many floats. Borrows them; they may begin at any address.
struct Encoding {
  std::span<const std::byte> bytes;
  std::size_t elements = 0;
};

/// What floats become on the wire. Encodings of equally many floats are equally long, so a receiver
/// knows what to expect before it reads anything.
///
/// Thread safety: `Encode` belongs to one thread at a time, the const functions to any.
class Codec {
 public:
  /// Where parts of an encoding may be read from: multiples of so many elements.
  static constexpr std::size_t kAlignment = 64;

  virtual ~Codec() = default;

  virtual std::size_t EncodedBytes(std::size_t elements) const = 0;
  /// `out` has `EncodedBytes(values.size())` bytes and may begin at any address.
  virtual void Encode(std::span<const float> values, const CodecPlace& place,
                      std::span<std::byte> out) = 0;
  /// Why nobody can have encoded these bytes; empty: they can be read. Whatever comes from another
  /// process is checked before it is read: reading what is damaged is not safe.
  virtual std::string DamageOf(const Encoding& encoding) const = 0;
  /// out[i] = the value of element `begin` + i. `begin` is a multiple of `kAlignment`.
  virtual void Decode(const Encoding& encoding, std::size_t begin, std::span<float> out) const = 0;
  /// sum[i] += factor * the value of element `begin` + i.
  virtual void Add(const Encoding& encoding, std::size_t begin, float factor,
                   std::span<float> sum) const = 0;
};

/// The codec alone, without error feedback. Throws `InternalError` for fp32, which needs none, and
/// PowerSGD, which encodes no worker's gradient by itself (power_sgd.h).
std::unique_ptr<Codec> MakeBareCodec(const CodecOptions& options, int rank);

/// A worker's codec for gradients of a flat vector of so many elements: with error feedback where
/// `options` have it.
std::unique_ptr<Codec> MakeCodec(const CodecOptions& options, int rank, std::size_t elements);

/// What a bucket of so many floats becomes on the wire, in bytes, under any codec: of PowerSGD both
/// factors.
std::size_t WireBytes(const CodecOptions& options, std::size_t elements);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_CODEC_H_
