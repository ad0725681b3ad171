#ifndef RINGSIDE_COMMON_CODEC_ENCODING_PARTS_H_
#define RINGSIDE_COMMON_CODEC_ENCODING_PARTS_H_

#include <cstddef>
#include <span>
#include <string>

namespace ringside {

struct Encoding;

/// What a codec offers whose encoding of an element depends on all other elements of its span: by
/// their mean, or by a choice among them. Parameter servers encode a bucket once, as rings do,
/// and each server gets the part of the encoding that it owns. `Codec::Decode` and `Codec::Add`
/// read parts, too.
///
/// Thread safety: any thread may call these functions.
class EncodingParts {
 public:
  /// A part begins at a multiple of this, and `Codec::Decode` of such a codec may begin there.
  static constexpr std::size_t kAlignment = 16;

  virtual ~EncodingParts() = default;

  /// The bytes of the part with elements [begin, begin + elements) of `whole`, which is valid.
  virtual std::size_t PartBytes(const Encoding& whole, std::size_t begin,
                                std::size_t elements) const = 0;
  /// Writes this part. `out` has `PartBytes` bytes and may begin at any address.
  virtual void CopyPart(const Encoding& whole, std::size_t begin, std::size_t elements,
                        std::span<std::byte> out) const = 0;
  /// Whether parts of equally many elements may have different lengths.
  virtual bool PartLengthsVary() const { return false; }
  /// The bytes of a received part without its padding. They may be more than have come.
  virtual std::size_t UnpaddedBytes(const Encoding& padded) const = 0;
  /// As `Codec::Validate`, for a part without padding.
  virtual std::string ValidatePart(const Encoding& part) const = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_ENCODING_PARTS_H_
