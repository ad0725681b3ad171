#ifndef RINGSIDE_EXPERIMENTS_CLI_OPTIONS_OPTION_SET_H_
#define RINGSIDE_EXPERIMENTS_CLI_OPTIONS_OPTION_SET_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/cli/options/color.h"

namespace ringside {

/// One option of a verb.
struct Option {
  std::string name;         ///< The name without dashes.
  std::string placeholder;  ///< "N", "FILE"; empty for a switch.
  std::string help;
  std::string default_text;  ///< Shown by help; the value when the flag is absent.
  std::string letter = {};   ///< "b": also -b; empty: it has no short form.
  bool repeatable = false;   ///< It may be given more than once: `GetAll`.
};

/// An argument of a verb that is not a flag.
struct Positional {
  std::string placeholder;  ///< "SPEC.yaml".
  std::string help;
  bool required = true;
};

struct Example {
  std::string command;
  std::string meaning;
};

/// The parsed arguments. A value.
class ParsedOptions {
 public:
  /// Whether the arguments contain the flag.
  bool Has(std::string_view name) const { return written_.contains(name); }
  /// Whether the verb has such a flag.
  bool Takes(std::string_view name) const { return defaults_.contains(name); }
  /// The given value, else the default of the option table.
  const std::string& Get(std::string_view name) const;
  /// All given values of a repeatable flag, in order.
  std::vector<std::string> GetAll(std::string_view name) const;
  /// Whether a switch is on.
  bool IsOn(std::string_view name) const;
  bool help() const { return help_; }
  /// The first positional; empty when there is none.
  const std::string& positional() const { return positional_; }
  /// All positionals, in order.
  const std::vector<std::string>& positionals() const { return positionals_; }
  /// The words after "--".
  const std::vector<std::string>& rest() const { return rest_; }
  ColorMode color() const { return color_; }

 private:
  friend class OptionSet;
  std::map<std::string, std::string, std::less<>> written_;
  std::map<std::string, std::vector<std::string>, std::less<>> repeated_;
  std::map<std::string, std::string, std::less<>> defaults_;
  std::string positional_;
  std::vector<std::string> positionals_;
  std::vector<std::string> rest_;
  ColorMode color_ = ColorMode::kAuto;
  bool help_ = false;
};

/// Reads a flag with `parse`. A `ConfigError` of it becomes a `UsageError` that names the flag.
template <typename Parse>
auto ReadFlag(const ParsedOptions& parsed, const std::string& name, const Parse& parse) {
  try {
    return parse(parsed.Get(name));
  } catch (const ConfigError& error) {
    throw UsageError("--" + name + ": " + error.what());
  }
}

/// The option table of one verb. It parses the verb's arguments and prints its help. Every verb
/// also takes -h, --help and --color.
class OptionSet {
 public:
  OptionSet(std::string verb, std::string summary, std::vector<Example> examples);

  /// Adds a positional. Add the optional ones last.
  void TakePositional(Positional positional) { positionals_.push_back(std::move(positional)); }
  /// The verb takes all words after "--", as they are. They are a program and its arguments.
  void TakeRest(Positional rest) { rest_ = std::move(rest); }
  /// Starts a group of options; help shows `title` above it.
  void AddGroup(std::string title);
  void Add(Option option);

  /// Parses arguments, without abbreviations. Throws `UsageError` on an unknown flag (with "did you
  /// mean"), a flag given twice or without its value, too many or too few positionals, and no word
  /// after "--". With -h or --help among the arguments nothing else is checked.
  ParsedOptions Parse(const std::vector<std::string>& args) const;

  /// The help text, examples first.
  std::string Help(const Painter& painter) const;

  /// The flags' names, in order.
  std::vector<std::string_view> Names() const;

 private:
  struct Group {
    std::string title;
    std::vector<Option> options;
  };

  std::string verb_;
  std::string summary_;
  std::vector<Example> examples_;
  std::vector<Positional> positionals_;
  std::optional<Positional> rest_;
  std::vector<Group> groups_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CLI_OPTIONS_OPTION_SET_H_
