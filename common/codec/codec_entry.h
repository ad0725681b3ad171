#ifndef RINGSIDE_COMMON_CODEC_CODEC_ENTRY_H_
#define RINGSIDE_COMMON_CODEC_CODEC_ENTRY_H_

#include <cstddef>
#include <memory>
#include <string_view>

namespace ringside {

class Codec;
struct CodecOptions;

/// How a sum over workers is formed from their encodings.
enum class AggregationScheme {
  kPlain,            ///< Nothing is encoded: fp32.
  kReencodedPerHop,  ///< Partial sums are decoded, added to and encoded again: fp16, bf16, int8.
  kGathered,         ///< A process that sums receives the encodings of all workers: top-k, sign.
  kFactors,          ///< Two factors are summed, one after the other: PowerSGD.
};

/// A row of a table of codecs. The rest of the program reads only this about a codec. Rows are
/// constants that live as long as the program; options point at them. A codec that another program
/// adds is `kReencodedPerHop` or `kGathered`; each of the other two schemes has exactly one codec.
struct CodecEntry {
  std::string_view name;
  std::string_view summary;  ///< For lists: what it sends for a float.
  AggregationScheme scheme = AggregationScheme::kGathered;

  /// Placeholder for the number after the colon, "RATIO"; empty: the codec takes none.
  std::string_view parameter = {};
  /// The number must be whole.
  bool whole_parameter = false;
  /// Throws `ConfigError` when the codec cannot work with this number, which was written as `text`.
  void (*check_parameter)(double value, std::string_view text) = nullptr;

  /// Error feedback is on by default, because the codec's errors do not average out.
  bool error_feedback = false;
  /// Each float is rounded to nearest by itself, and encoding a decoded value gives the same bytes.
  /// So several ranks may encode the same sum, and parameters may be encoded like gradients.
  bool to_nearest = false;

  /// Makes the codec of the worker with this rank, without error feedback. Null: the codec cannot
  /// encode the gradient of one worker by itself.
  std::unique_ptr<Codec> (*make)(const CodecOptions& options, int rank) = nullptr;
  /// Returns the bytes sent for `elements` floats. Null: use the codec's `EncodedBytes`.
  std::size_t (*wire_bytes)(const CodecOptions& options, std::size_t elements) = nullptr;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_CODEC_ENTRY_H_
