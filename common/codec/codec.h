#ifndef RINGSIDE_COMMON_CODEC_CODEC_H_
#define RINGSIDE_COMMON_CODEC_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ringside/common/codec/codec_options.h"

namespace ringside {

/// Where the floats of an encoding come from. Random numbers depend only on the codec's seed and
/// rank and on these two values, so runs repeat.
struct GradientPosition {
  std::size_t offset = 0;  ///< Index of the first float in the flat gradient vector.
  std::int64_t step = 0;
};

/// Bytes that encode `elements` floats. Borrows the bytes; they may begin at any address.
struct Encoding {
  std::span<const std::byte> bytes;
  std::size_t elements = 0;
};

/// Encodes floats for sending and decodes them. Encodings of equally many floats are equally long,
/// so a receiver knows the length before it reads anything.
///
/// Thread safety: `Encode` belongs to one thread at a time, the const functions to any.
class Codec {
 public:
  /// Parts of an encoding can be read from multiples of so many elements on.
  static constexpr std::size_t kAlignment = 64;

  virtual ~Codec() = default;

  virtual std::size_t EncodedBytes(std::size_t elements) const = 0;
  /// `out` has `EncodedBytes(values.size())` bytes and may begin at any address.
  virtual void Encode(std::span<const float> values, const GradientPosition& place,
                      std::span<std::byte> out) = 0;
  /// Returns why these bytes are no valid encoding; empty: they are one. Bytes from another process
  /// must be checked before they are decoded: decoding damaged bytes is not safe.
  virtual std::string Validate(const Encoding& encoding) const = 0;
  /// out[i] = the value of element `begin` + i. `begin` is a multiple of `kAlignment`.
  virtual void Decode(const Encoding& encoding, std::size_t begin, std::span<float> out) const = 0;
  /// sum[i] += factor * the value of element `begin` + i.
  virtual void Add(const Encoding& encoding, std::size_t begin, float factor,
                   std::span<float> sum) const = 0;
};

/// Makes the codec alone, without error feedback. Throws `InternalError` for fp32, which needs
/// none, and PowerSGD, which encodes no worker's gradient by itself (power_sgd.h): those without
/// `CodecEntry::make`.
std::unique_ptr<Codec> MakeBareCodec(const CodecOptions& options, int rank);

/// Makes a worker's codec for gradients of a flat vector of so many elements, with error feedback
/// if `options` say so.
std::unique_ptr<Codec> MakeCodec(const CodecOptions& options, int rank, std::size_t elements);

/// Returns how many bytes are sent for a bucket of so many floats, under any codec: for PowerSGD
/// both factors.
std::size_t WireBytes(const CodecOptions& options, std::size_t elements);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_CODEC_H_
