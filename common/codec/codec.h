#ifndef RINGSIDE_COMMON_CODEC_CODEC_H_
#define RINGSIDE_COMMON_CODEC_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ringside/common/codec/codec_options.h"
#include "ringside/common/codec/encoding_parts.h"

namespace ringside {

/// The `StateVector::name` of a residual, whatever keeps it. So a checkpoint of one strategy can be
/// resumed under another one.
inline constexpr const char* kResidualName = "residual";

/// Where the floats of an encoding come from. The random numbers of a codec depend only on its
/// seed, its rank and these two values. So two runs draw the same numbers.
struct GradientPosition {
  std::size_t offset = 0;  ///< Index of the first float in the flat gradient vector.
  std::int64_t step = 0;
};

/// Bytes that encode `elements` floats. Borrows the bytes; they may begin at any address.
struct Encoding {
  std::span<const std::byte> bytes;
  std::size_t elements = 0;
};

/// Encodes floats for sending and decodes them. The length of an encoding depends only on the
/// number of floats, so a receiver knows it before it reads anything. Only the parts of an encoding
/// may have other lengths (`EncodingParts`).
///
/// Thread safety: one thread at a time may call `Encode`. Any thread may call the const functions.
class Codec {
 public:
  /// A reader can start inside an encoding, at any element whose index is a multiple of this.
  static constexpr std::size_t kAlignment = 64;

  virtual ~Codec() = default;

  virtual std::size_t EncodedBytes(std::size_t elements) const = 0;
  /// `out` has `EncodedBytes(values.size())` bytes and may begin at any address.
  virtual void Encode(std::span<const float> values, const GradientPosition& place,
                      std::span<std::byte> out) = 0;
  /// Returns why these bytes are not a valid encoding; empty if they are valid. Check bytes from
  /// another process before decoding them: decoding damaged bytes is not safe.
  virtual std::string Validate(const Encoding& encoding) const = 0;
  /// out[i] = the value of element `begin` + i. `begin` is a multiple of `kAlignment`.
  virtual void Decode(const Encoding& encoding, std::size_t begin, std::span<float> out) const = 0;
  /// sum[i] += factor * the value of element `begin` + i.
  virtual void Add(const Encoding& encoding, std::size_t begin, float factor,
                   std::span<float> sum) const = 0;
  /// A span may be cut at multiples of so many elements and encoded in pieces, which gives the same
  /// values. A codec with `parts` cannot be cut before it has encoded.
  virtual std::size_t block() const { return 1; }
  virtual const EncodingParts* parts() const { return nullptr; }
  /// What error feedback has kept, by position in the flat vector. Empty without error feedback.
  virtual std::span<float> Residual() { return {}; }
};

/// Makes the codec without error feedback. Throws `InternalError` for a codec without
/// `CodecEntry::make`: fp32, which encodes nothing, and PowerSGD, which cannot encode the gradient
/// of one worker by itself (power_sgd.h).
std::unique_ptr<Codec> MakeBareCodec(const CodecOptions& options, int rank);

/// Makes a worker's codec for the gradients of a flat vector of `elements` floats. It has error
/// feedback if `options` say so.
std::unique_ptr<Codec> MakeCodec(const CodecOptions& options, int rank, std::size_t elements);

/// Returns the `Codec::block` of the codec; 1 if it encodes nothing.
std::size_t CodecBlock(const CodecOptions& options);

/// Returns how many bytes are sent for a bucket of `elements` floats under any codec. For PowerSGD
/// it counts both factors.
std::size_t WireBytes(const CodecOptions& options, std::size_t elements);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_CODEC_H_
