#ifndef RINGSIDE_EXPERIMENTS_CLI_OPTION_SET_H_
#define RINGSIDE_EXPERIMENTS_CLI_OPTION_SET_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/cli/color.h"

namespace ringside {

/// One line of a verb's option table.
struct Option {
  std::string name;         ///< Without the dashes.
  std::string placeholder;  ///< "N", "FILE"; empty: a switch.
  std::string help;
  std::string default_text;  ///< Shown by help, and the value where the flag is absent.
  std::string letter = {};   ///< "b": also -b; empty: it has no short form.
  bool repeatable = false;   ///< It may be given more than once: `GetAll`.
};

/// What a verb takes besides its flags.
struct Positional {
  std::string placeholder;  ///< "SPEC.yaml".
  std::string help;
  bool required = true;
};

struct Example {
  std::string command;
  std::string meaning;
};

/// What the caller wrote. A value.
class ParsedOptions {
 public:
  /// Whether the flag was written.
  bool Has(std::string_view name) const { return written_.contains(name); }
  /// The written value, or the default of the table.
  const std::string& Get(std::string_view name) const;
  /// All values of a repeatable flag, as written.
  std::vector<std::string> GetAll(std::string_view name) const;
  /// A switch that is on.
  bool IsOn(std::string_view name) const;
  bool help() const { return help_; }
  /// The first one; empty when it was left away.
  const std::string& positional() const { return positional_; }
  /// All of them, in order.
  const std::vector<std::string>& positionals() const { return positionals_; }
  ColorMode color() const { return color_; }

 private:
  friend class OptionSet;
  std::map<std::string, std::string, std::less<>> written_;
  std::map<std::string, std::vector<std::string>, std::less<>> repeated_;
  std::map<std::string, std::string, std::less<>> defaults_;
  std::string positional_;
  std::vector<std::string> positionals_;
  ColorMode color_ = ColorMode::kAuto;
  bool help_ = false;
};

/// The option table of one verb: parses its arguments and prints its help, both from the same
/// lines. Every verb also takes -h, --help and --color.
class OptionSet {
 public:
  OptionSet(std::string verb, std::string summary, std::vector<Example> examples);

  /// Again for a second one. Those that are not required come last.
  void TakePositional(Positional positional) { positionals_.push_back(std::move(positional)); }
  /// Starts a group of options under a heading of help.
  void AddGroup(std::string title);
  void Add(Option option);

  /// Abbreviations are not guessed. Throws `UsageError`: unknown flag (with "did you mean"), a flag
  /// given twice or without its value, too many or too few positionals. With -h or --help among the
  /// arguments nothing else is checked.
  ParsedOptions Parse(const std::vector<std::string>& args) const;

  /// Examples first.
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
  std::vector<Group> groups_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CLI_OPTION_SET_H_
