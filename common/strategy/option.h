#ifndef RINGSIDE_COMMON_STRATEGY_OPTION_H_
#define RINGSIDE_COMMON_STRATEGY_OPTION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ringside {

/// Options of strategies. A strategy declares each of its options once, as a constant beside
/// itself:
///
///   inline constexpr IntegerOption kStaleness{.name = "staleness", .placeholder = "S", ...};
///
/// and reads it with `options.Get(kStaleness)`. From the declarations of all entries of a catalog
/// come the flags, the keys of spec files, the checks and the help. Constants and values: no thread
/// safety needed.

/// What an option means to whoever compares runs.
enum class OptionRole {
  kOwn,          ///< A setting of the strategy.
  kTransport,    ///< Chooses the transport.
  kEncoding,     ///< Changes what travels: runs that differ in it have different workloads.
  kMessageSize,  ///< The KiB of a message that carries a part of a bucket. 0: chosen by itself.
};

struct IntegerOption {
  std::string_view name;  ///< As flags spell it: "sync-every".
  std::string_view placeholder = {};
  std::string_view help = {};
  std::int64_t default_value = 0;
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::string_view hint = {};  ///< What a limit means, for the error of a value out of range.
  OptionRole role = OptionRole::kOwn;
  bool written_only_if_set = false;  ///< As in `OptionDeclaration`.
};

struct RealOption {
  std::string_view name;
  std::string_view placeholder = {};
  std::string_view help = {};
  double default_value = 0;
  double least = -std::numeric_limits<double>::max();
  double most = std::numeric_limits<double>::max();
  bool above_least = false;  ///< `least` itself is out of range.
  bool below_most = false;   ///< `most` itself is out of range.
  std::string_view hint = {};
};

/// One that is on by default needs a value on the command line: `--server-update off`.
struct SwitchOption {
  std::string_view name;
  std::string_view help = {};
  bool default_value = false;
  bool written_only_if_set = false;  ///< As in `OptionDeclaration`.
};

struct TextOption {
  std::string_view name;
  std::string_view placeholder = {};
  std::string_view help = {};
  std::string_view default_value = {};
  OptionRole role = OptionRole::kOwn;
};

/// One of several values. `choices[i]` is the name of the enumerator with the value i.
template <typename Enum, std::size_t count>
struct ChoiceOption {
  std::string_view name;
  std::string_view placeholder = {};
  std::string_view help = {};
  std::string_view noun;  ///< Of a choice, for errors: "transport".
  std::array<std::string_view, count> choices;
  Enum default_value{};
  OptionRole role = OptionRole::kOwn;

  constexpr std::string_view NameOf(Enum value) const {
    return choices[static_cast<std::size_t>(value)];
  }
};

/// A choice is held as its name.
using OptionValue = std::variant<bool, std::int64_t, double, std::string>;

enum class OptionType { kSwitch, kInteger, kReal, kText, kChoice };

/// Any of the above as a value of one type: what tables hold.
struct OptionDeclaration {
  // Implicit, so that an entry lists its options by their constants.
  OptionDeclaration(const IntegerOption& option);  // NOLINT(google-explicit-constructor)
  OptionDeclaration(const RealOption& option);     // NOLINT(google-explicit-constructor)
  OptionDeclaration(const SwitchOption& option);   // NOLINT(google-explicit-constructor)
  OptionDeclaration(const TextOption& option);     // NOLINT(google-explicit-constructor)
  template <typename Enum, std::size_t count>
  OptionDeclaration(const ChoiceOption<Enum, count>& option)  // NOLINT(google-explicit-constructor)
      : OptionDeclaration(option.name, option.placeholder, option.help, OptionType::kChoice,
                          std::string(option.NameOf(option.default_value)), option.role) {
    noun = option.noun;
    choices.assign(option.choices.begin(), option.choices.end());
  }

  /// An option whose value is one of these names, for names that a table gives. Errors call a
  /// choice `noun`. The value is read through `option`.
  static OptionDeclaration OneOf(const TextOption& option, std::string_view noun,
                                 std::vector<std::string> choices);

  /// Throws `ConfigError` that says what is wrong with a value: its type, its range, its name.
  void Check(const OptionValue& value) const;

  bool operator==(const OptionDeclaration&) const = default;

  std::string name;
  std::string placeholder;  ///< Empty for a switch that is off by default.
  std::string help;
  OptionType type;
  OptionValue default_value;
  OptionRole role;
  std::string noun;                  ///< Of a choice.
  std::vector<std::string> choices;  ///< Of a choice.
  /// Of a number.
  double least = -std::numeric_limits<double>::max();
  double most = std::numeric_limits<double>::max();
  bool above_least = false;
  bool below_most = false;
  std::string hint;
  /// The spec of a run names the option only when it does not have its default.
  bool written_only_if_set = false;

 private:
  OptionDeclaration(std::string_view name, std::string_view placeholder, std::string_view help,
                    OptionType type, OptionValue default_value, OptionRole role);
  std::string RangeText() const;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRATEGY_OPTION_H_
