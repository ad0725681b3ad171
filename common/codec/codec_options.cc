#include "ringside/common/codec/codec_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

std::string FormOf(const CodecEntry& codec) {
  std::string form(codec.name);
  if (!codec.parameter.empty()) form.append(":").append(codec.parameter);
  return form;
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

double ParseParameter(const CodecEntry& codec, std::string_view text) {
  const double value = codec.whole_parameter ? ParseNumber<int>(codec.name, text)
                                             : ParseNumber<double>(codec.name, text);
  if (codec.check_parameter != nullptr) codec.check_parameter(value, text);
  return value;
}

}  // namespace

const CodecEntry kFp32Codec{
    .name = "fp32",
    .summary = "floats sent unchanged",
    .scheme = AggregationScheme::kPlain,
    .wire_bytes = [](const CodecOptions&,
                     std::size_t elements) { return elements * sizeof(float); },
};

std::string CodecForms(std::span<const CodecEntry* const> table) {
  std::string forms;
  for (const CodecEntry* codec : table) {
    if (!forms.empty()) forms += ", ";
    forms += FormOf(*codec);
  }
  return forms;
}

void ParseCodec(std::string_view text, std::span<const CodecEntry* const> table,
                CodecOptions& options) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto found = std::ranges::find(table, name, &CodecEntry::name);
  if (found == table.end()) {
    throw ConfigError("no codec is called '" + std::string(name) + "'; there are " +
                      CodecForms(table));
  }
  const CodecEntry& codec = **found;
  if ((colon != std::string_view::npos) == codec.parameter.empty()) {
    throw ConfigError("'" + std::string(text) + "' is not of the form " + FormOf(codec));
  }
  const double parameter =
      codec.parameter.empty() ? 0 : ParseParameter(codec, text.substr(colon + 1));
  options.entry = &codec;
  options.parameter = parameter;
}

std::string CodecText(const CodecOptions& options) {
  std::string text(options.entry->name);
  if (options.entry->parameter.empty()) return text;
  std::array<char, 32> digits{};
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), options.parameter).ptr;
  return text + ":" + std::string(digits.data(), end);
}

bool UsesErrorFeedback(const CodecOptions& options) {
  if (options.error_feedback != ErrorFeedback::kAuto) {
    return options.error_feedback == ErrorFeedback::kOn;
  }
  return options.entry->error_feedback;
}

CodecOptions ReplyCodec(const CodecOptions& options) {
  return {.entry = options.entry->to_nearest ? options.entry : &kFp32Codec,
          .parameter = options.entry->to_nearest ? options.parameter : 0};
}

}  // namespace ringside
