#ifndef RINGSIDE_COMMON_CODEC_CODEC_OPTIONS_H_
#define RINGSIDE_COMMON_CODEC_CODEC_OPTIONS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ringside/common/codec/codec_entry.h"

namespace ringside {

enum class ErrorFeedback {
  kAuto,  ///< On for codecs whose errors do not average out: top-k, PowerSGD, sign.
  kOn,
  kOff,
};

/// The codec fp32: gradients are sent unchanged.
extern const CodecEntry kFp32Codec;

/// The chosen codec and its settings.
struct CodecOptions {
  const CodecEntry* entry = &kFp32Codec;  ///< Never null.
  double parameter = 0;                   ///< The number named by `entry->parameter`.
  ErrorFeedback error_feedback = ErrorFeedback::kAuto;
  std::uint64_t seed = 0;  ///< The run's seed: for stochastic rounding and first factors.

  /// Whether gradients are encoded.
  bool encodes() const { return entry->scheme != AggregationScheme::kPlain; }
};

/// Reads "fp32", "fp16", "bf16", "int8", "topk:0.01", "powersgd:4", "sign", or another codec of
/// `table`. Sets `entry` and `parameter` of `options`. On an error it throws a `ConfigError` that
/// says what is wrong and which codecs there are, and leaves `options` unchanged.
void ParseCodec(std::string_view text, std::span<const CodecEntry* const> table,
                CodecOptions& options);
/// How to write each codec of a table: "fp32, fp16, topk:RATIO".
std::string CodecForms(std::span<const CodecEntry* const> table);
/// The text that `ParseCodec` takes.
std::string CodecText(const CodecOptions& options);

/// Whether this run uses error feedback: `error_feedback`, with auto resolved.
bool UsesErrorFeedback(const CodecOptions& options);
/// Returns the codec for parameters that a server sends to a worker. It is the same codec if that
/// one rounds to nearest. Otherwise it is fp32, because errors in parameters do not average out as
/// they do in a sum.
CodecOptions ReplyCodec(const CodecOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_CODEC_OPTIONS_H_
