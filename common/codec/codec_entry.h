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
  kReencodedPerHop,  ///< Partial sums are decoded, added to and encoded anew: fp16, bf16, int8.
  kGathered,         ///< Whoever sums receives the encodings of all workers: top-k, sign.
  kFactors,          ///< Two factors are summed, one after the other: PowerSGD.
};

/// A row of a table of codecs: all that the rest of the program knows of a codec. Rows are
/// constants that live as long as the program; options point at them. A codec of an outside program
/// is `kReencodedPerHop` or `kGathered`; the other two schemes have one codec each.
struct CodecEntry {
  std::string_view name;
  std::string_view summary;  ///< For lists: what it sends of a float.
  AggregationScheme scheme = AggregationScheme::kGathered;

  /// Placeholder for the number after the colon, "RATIO"; empty: the codec takes none.
  std::string_view parameter = {};
  /// The number must be whole.
  bool whole_parameter = false;
  /// Throws `ConfigError` when the codec cannot work with this number, which was written as `text`.
  void (*check_parameter)(double value, std::string_view text) = nullptr;

  /// Error feedback is on unless it is turned off: what the codec loses does not average out.
  bool error_feedback = false;
  /// Floats are rounded to nearest, each by itself, and encoding what was decoded gives the same
  /// bytes. So several ranks may encode the same sum, and parameters may travel like gradients.
  bool to_nearest = false;

  /// The codec alone, of the worker with this rank. Null: it encodes no worker's gradient by
  /// itself.
  std::unique_ptr<Codec> (*make)(const CodecOptions& options, int rank) = nullptr;
  /// Returns the bytes sent for so many floats. Null: the codec's `EncodedBytes` says it.
  std::size_t (*wire_bytes)(const CodecOptions& options, std::size_t elements) = nullptr;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_CODEC_ENTRY_H_
