#ifndef RINGSIDE_COMMON_CODEC_OPTIONS_H_
#define RINGSIDE_COMMON_CODEC_OPTIONS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace ringside {

enum class CodecKind { kFp32, kFp16, kBf16, kInt8, kTopK, kPowerSgd, kSign };

enum class ErrorFeedback {
  kAuto,  ///< On for codecs whose error does not average out: top-k, PowerSGD, sign.
  kOn,
  kOff,
};

/// What a bucket becomes on the wire.
struct CodecOptions {
  CodecKind kind = CodecKind::kFp32;
  double ratio = 0;  ///< topk: share of the elements that are sent, 0 < ratio <= 1.
  int rank = 0;      ///< powersgd: columns of the factors, >= 1.
  ErrorFeedback error_feedback = ErrorFeedback::kAuto;
  std::uint64_t seed = 0;  ///< Of stochastic rounding and of first factors: the run's.
};

/// "fp32", "fp16", "bf16", "int8", "topk:0.01", "powersgd:4", "sign": sets `kind`, `ratio` and
/// `rank` of `options`. Throws `ConfigError` that says what is wrong, and what there is.
void ParseCodec(std::string_view text, CodecOptions& options);
/// Whether this run keeps what its codec lost: `error_feedback` with auto resolved.
bool FeedsErrorsBack(const CodecOptions& options);
/// What parameters travel as from a server to a worker: fp16 and bf16 like gradients, else fp32,
/// because they are no sum that errors average out of.
CodecOptions ReplyCodec(const CodecOptions& options);

/// How a sum over workers is formed of what they encode.
enum class CodecWay {
  kPlain,     ///< Nothing is encoded: fp32.
  kOnTheWay,  ///< Partial sums are decoded, added to and encoded anew: fp16, bf16, int8.
  kGathered,  ///< Whoever sums receives the encodings of all workers: top-k, sign.
  kFactors,   ///< Two factors are summed, one after the other: PowerSGD.
};
CodecWay WayOf(CodecKind kind);
/// The text that `ParseCodec` takes.
std::string CodecText(const CodecOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_OPTIONS_H_
