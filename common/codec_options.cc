#include "common/codec_options.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "common/errors.h"

namespace ringside {
namespace {

struct CodecName {
  CodecKind kind;
  std::string_view name;
  std::string_view parameter;  ///< What follows the colon; empty: nothing may.
};

constexpr std::array kNames{
    CodecName{CodecKind::kFp32, "fp32", ""},
    CodecName{CodecKind::kFp16, "fp16", ""},
    CodecName{CodecKind::kBf16, "bf16", ""},
    CodecName{CodecKind::kInt8, "int8", ""},
    CodecName{CodecKind::kTopK, "topk", "RATIO"},
    CodecName{CodecKind::kPowerSgd, "powersgd", "RANK"},
    CodecName{CodecKind::kSign, "sign", ""},
};

constexpr int kMaxRank = 1024;
constexpr double kMostRatio = 2.0 / 3;  // of topk: 6 bytes an element instead of 4

std::string KnownCodecs() {
  std::string known;
  for (const CodecName& codec : kNames) {
    if (!known.empty()) known += ", ";
    known += codec.name;
    if (!codec.parameter.empty()) known += ":" + std::string(codec.parameter);
  }
  return known;
}

template <typename Number>
Number ParseNumber(std::string_view codec, std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw ConfigError("'" + std::string(text) + "' is no number for codec '" + std::string(codec) +
                      "'");
  }
  return number;
}

}  // namespace

void ParseCodec(std::string_view text, CodecOptions& options) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto* codec = std::ranges::find(kNames, name, &CodecName::name);
  if (codec == kNames.end()) {
    throw ConfigError("no codec is called '" + std::string(name) + "'; there are " + KnownCodecs());
  }
  if ((colon != std::string_view::npos) == codec->parameter.empty()) {
    const std::string form = codec->parameter.empty()
                                 ? std::string(name)
                                 : std::string(name) + ":" + std::string(codec->parameter);
    throw ConfigError("'" + std::string(text) + "' is not of the form " + form);
  }
  CodecOptions parsed{
      .kind = codec->kind, .error_feedback = options.error_feedback, .seed = options.seed};
  if (codec->kind == CodecKind::kTopK) {
    parsed.ratio = ParseNumber<double>(name, text.substr(colon + 1));
    if (!(parsed.ratio > 0 && parsed.ratio <= 1)) {
      throw ConfigError("a ratio of " + std::string(text.substr(colon + 1)) +
                        " keeps nothing that makes sense; topk needs 0 < ratio <= 1");
    }
    if (parsed.ratio > kMostRatio) {
      throw ConfigError("a ratio of " + std::string(text.substr(colon + 1)) +
                        " sends more bytes than fp32: six for each of the elements that are kept, "
                        "where fp32 needs four; topk is of use up to 0.66");
    }
  }
  if (codec->kind == CodecKind::kPowerSgd) {
    parsed.rank = ParseNumber<int>(name, text.substr(colon + 1));
    if (parsed.rank < 1 || parsed.rank > kMaxRank) {
      throw ConfigError("a rank of " + std::string(text.substr(colon + 1)) +
                        " is none; powersgd needs 1 <= rank <= " + std::to_string(kMaxRank));
    }
  }
  options = parsed;
}

bool FeedsErrorsBack(const CodecOptions& options) {
  if (options.error_feedback != ErrorFeedback::kAuto) {
    return options.error_feedback == ErrorFeedback::kOn;
  }
  return options.kind == CodecKind::kTopK || options.kind == CodecKind::kPowerSgd ||
         options.kind == CodecKind::kSign;
}

CodecOptions ReplyCodec(const CodecOptions& options) {
  const bool half = options.kind == CodecKind::kFp16 || options.kind == CodecKind::kBf16;
  return {.kind = half ? options.kind : CodecKind::kFp32};
}

CodecWay WayOf(CodecKind kind) {
  switch (kind) {
    case CodecKind::kFp32:
      break;
    case CodecKind::kFp16:
    case CodecKind::kBf16:
    case CodecKind::kInt8:
      return CodecWay::kOnTheWay;
    case CodecKind::kTopK:
    case CodecKind::kSign:
      return CodecWay::kGathered;
    case CodecKind::kPowerSgd:
      return CodecWay::kFactors;
  }
  return CodecWay::kPlain;
}

std::string CodecText(const CodecOptions& options) {
  const auto* codec = std::ranges::find(kNames, options.kind, &CodecName::kind);
  std::string text(codec->name);
  if (options.kind == CodecKind::kPowerSgd) return text + ":" + std::to_string(options.rank);
  if (options.kind != CodecKind::kTopK) return text;
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), options.ratio).ptr;
  return text + ":" + std::string(digits.data(), end);
}

}  // namespace ringside
