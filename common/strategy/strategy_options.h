#ifndef RINGSIDE_COMMON_STRATEGY_STRATEGY_OPTIONS_H_
#define RINGSIDE_COMMON_STRATEGY_STRATEGY_OPTIONS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/common/codec/codec_options.h"
#include "ringside/common/strategy/option.h"

namespace ringside {

/// The order in which buckets that are ready leave a worker.
enum class SendOrder {
  kFifo,      ///< As the backward pass finishes them.
  kPriority,  ///< First the bucket that the next forward pass reads first.
};

/// The options that strategies of all families share. Their values are plain members of
/// `StrategyOptions`. A strategy lists those that it reads, as it lists its own options.
inline constexpr ChoiceOption<SendOrder, 2> kScheduleOption{
    .name = "schedule",
    .placeholder = "ORDER",
    .help = "which bucket leaves first: fifo, or priority (what the next forward pass reads first)",
    .noun = "schedule",
    .choices = {"fifo", "priority"},
    .default_value = SendOrder::kFifo};
inline constexpr TextOption kCodecOption{
    .name = "codec",
    .placeholder = "CODEC",
    .help = "how gradients are encoded for sending",  // a catalog adds the list of codecs
    .default_value = "fp32",
    .role = OptionRole::kEncoding};
inline constexpr ChoiceOption<ErrorFeedback, 3> kErrorFeedbackOption{
    .name = "error-feedback",
    .placeholder = "auto|on|off",
    .help =
        "add what a codec lost to the next gradient; auto: where its error does not average out",
    .noun = "error feedback",
    .choices = {"auto", "on", "off"},
    .default_value = ErrorFeedback::kAuto,
    .role = OptionRole::kEncoding};

/// What a run asks of its strategy: the shared options as members, and the values of the options
/// that strategies declare. An option that was not set has its default. A value.
struct StrategyOptions {
  /// Throws `ConfigError` that names the option: one that was not declared (`OnlyDeclared`), and
  /// one that holds a value of another type.
  std::int64_t Get(const IntegerOption& option) const {
    return ValueOr(option.name, option.default_value);
  }
  double Get(const RealOption& option) const { return ValueOr(option.name, option.default_value); }
  bool Get(const SwitchOption& option) const { return ValueOr(option.name, option.default_value); }
  std::string Get(const TextOption& option) const {
    return ValueOr(option.name, std::string(option.default_value));
  }
  template <typename Enum, std::size_t count>
  Enum Get(const ChoiceOption<Enum, count>& option) const {
    const OptionValue* value = Find(option.name);
    if (value == nullptr) return option.default_value;
    const auto found = std::ranges::find(option.choices, As<std::string>(option.name, *value));
    if (found == option.choices.end()) RefuseChoice(option, *value);
    return static_cast<Enum>(found - option.choices.begin());
  }

  /// Throws `ConfigError` that names the option when a value is out of range, or when the option
  /// was not declared (`OnlyDeclared`).
  void Set(const IntegerOption& option, std::int64_t value) { SetValue(option, value); }
  void Set(const RealOption& option, double value) { SetValue(option, value); }
  void Set(const SwitchOption& option, bool value) { SetValue(option, value); }
  void Set(const TextOption& option, std::string_view value) {
    SetValue(option, std::string(value));
  }
  template <typename Enum, std::size_t count>
  void Set(const ChoiceOption<Enum, count>& option, Enum value) {
    SetValue(option, std::string(option.NameOf(value)));
  }
  /// For options of any type.
  void SetValue(const OptionDeclaration& option, OptionValue value);
  /// The same without the check of the range. The caller must check before anything reads the
  /// value.
  void SetUnchecked(const OptionDeclaration& option, OptionValue value);
  OptionValue ValueOf(const OptionDeclaration& option) const;

  /// The same values for a strategy that declares these options. `Get` and `Set` of any other
  /// option throw `ConfigError` that names the option and `strategy`. A strategy's context holds
  /// these.
  StrategyOptions OnlyDeclared(std::string_view strategy,
                               const std::vector<OptionDeclaration>& declared) const;

  SendOrder order = SendOrder::kFifo;  ///< `kScheduleOption`.
  CodecOptions codec;                  ///< `kCodecOption`, `kErrorFeedbackOption`.

 private:
  /// Null if it was never set. Throws for an option that was not declared.
  const OptionValue* Find(std::string_view name) const;
  template <typename T>
  T ValueOr(std::string_view name, const T& default_value) const {
    const OptionValue* value = Find(name);
    return value == nullptr ? default_value : As<T>(name, *value);
  }
  template <typename T>
  static const T& As(std::string_view name, const OptionValue& value) {
    if (const T* typed = std::get_if<T>(&value)) return *typed;
    RefuseType(name, value, T());
  }
  /// `asked` is any value of the type that is asked for.
  [[noreturn]] static void RefuseType(std::string_view name, const OptionValue& value,
                                      const OptionValue& asked);
  [[noreturn]] static void RefuseChoice(const OptionDeclaration& option, const OptionValue& value);

  std::map<std::string, OptionValue, std::less<>> values_;
  std::string strategy_;                                        // the owner of `declared_`
  std::optional<std::set<std::string, std::less<>>> declared_;  // absent: all
};

/// Why a strategy cannot do what is asked: the wrong key, spelled like its flag, and the reason
/// with advice.
struct OptionRefusal {
  std::string key;
  std::string reason;
  bool missing_backend = false;  ///< The value is right, but this machine or build cannot do it.
};

/// Error feedback needs a codec that loses something. This is the message for the key
/// `error-feedback`.
std::optional<OptionRefusal> CheckErrorFeedback(const CodecOptions& codec);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRATEGY_STRATEGY_OPTIONS_H_
