#include "ringside/experiments/cli/options/option_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <iterator>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/text/did_you_mean.h"
#include "ringside/experiments/text/units.h"

namespace ringside {
namespace {

namespace po = boost::program_options;

constexpr char kPositionalName[] = "(positional)";
constexpr std::size_t kHelpColumn = 30;
constexpr std::size_t kHelpWidth = 98;

// Breaks `text` into lines of at most `width` characters; indents all but the first.
std::string Wrap(const std::string& text, std::size_t indent, std::size_t width) {
  std::string out;
  std::size_t column = indent;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::size_t length = end - begin;
    if (column > indent && column + 1 + length > width) {
      out += '\n';
      out.append(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += text.substr(begin, length);
    column += length;
    begin = end + 1;
  }
  return out;
}

std::string OptionHelp(const Option& option) {
  std::string left = option.letter.empty() ? "  --" : "  -" + option.letter + ", --";
  left += option.name;
  if (!option.placeholder.empty()) left += ' ' + option.placeholder;
  std::string help = option.help;
  if (!option.default_text.empty()) help += " (default: " + option.default_text + ")";
  if (left.size() + 2 > kHelpColumn) {
    left += '\n' + std::string(kHelpColumn, ' ');
  } else {
    left.resize(kHelpColumn, ' ');
  }
  return left + Wrap(help, kHelpColumn, kHelpWidth) + '\n';
}

po::options_description Description(const std::vector<const Option*>& options) {
  po::options_description description;
  auto add = description.add_options();
  for (const Option* option : options) {
    const std::string names = option->name + (option->letter.empty() ? "" : "," + option->letter);
    if (option->repeatable) {
      add(names.c_str(), po::value<std::vector<std::string>>()->composing(), "");
    } else {
      add(names.c_str(), po::value<std::string>(), "");
    }
  }
  add("help,h", po::bool_switch(), "");
  add(kPositionalName, po::value<std::vector<std::string>>(), "");
  return description;
}

// Changes "--json" to "--json=true". Boost's own implicit values would take the next word.
std::vector<std::string> SpellSwitchesOut(std::vector<std::string> args,
                                          const std::vector<const Option*>& options) {
  for (std::string& arg : args) {
    const bool is_switch = std::ranges::any_of(options, [&](const Option* option) {
      return option->placeholder.empty() && arg == "--" + option->name;
    });
    if (is_switch) arg += "=true";
  }
  return args;
}

[[noreturn]] void RefuseUnknownFlag(const std::string& verb, const std::string& flag,
                                    std::vector<std::string_view> names) {
  names.push_back("help");
  std::string word = flag.substr(std::min(flag.find_first_not_of('-'), flag.size()));
  word = word.substr(0, word.find('='));
  const std::string_view nearest = NearestWord(word, names);
  const std::string hint = nearest.empty() ? "" : fmt::format(" (did you mean '--{}'?)", nearest);
  throw UsageError(fmt::format("{}: unknown flag '{}'{}; 'ringside {} --help' lists them", verb,
                               flag, hint, verb));
}

}  // namespace

const std::string& ParsedOptions::Get(std::string_view name) const {
  if (const auto found = written_.find(name); found != written_.end()) return found->second;
  const auto found = defaults_.find(name);
  if (found == defaults_.end()) throw InternalError("no option --" + std::string(name));
  return found->second;
}

std::vector<std::string> ParsedOptions::GetAll(std::string_view name) const {
  const auto found = repeated_.find(name);
  return found == repeated_.end() ? std::vector<std::string>{} : found->second;
}

bool ParsedOptions::IsOn(std::string_view name) const {
  const std::string& text = Get(name);
  return !text.empty() && ParseSwitch(text);
}

OptionSet::OptionSet(std::string verb, std::string summary, std::vector<Example> examples)
    : verb_(std::move(verb)), summary_(std::move(summary)), examples_(std::move(examples)) {}

void OptionSet::AddGroup(std::string title) { groups_.push_back({std::move(title), {}}); }

void OptionSet::Add(Option option) { groups_.back().options.push_back(std::move(option)); }

std::vector<std::string_view> OptionSet::Names() const {
  std::vector<std::string_view> names;
  for (const Group& group : groups_) {
    for (const Option& option : group.options) names.push_back(option.name);
  }
  names.push_back("color");
  return names;
}

ParsedOptions OptionSet::Parse(const std::vector<std::string>& all_args) const {
  ParsedOptions parsed;
  const auto separator = rest_ ? std::ranges::find(all_args, std::string("--")) : all_args.end();
  const std::vector<std::string> args(all_args.begin(), separator);
  if (separator != all_args.end()) parsed.rest_.assign(std::next(separator), all_args.end());
  const Option color{"color", "WHEN", "auto, always or never", "auto"};
  std::vector<const Option*> options{&color};
  for (const Group& group : groups_) {
    for (const Option& option : group.options) options.push_back(&option);
  }
  for (const Option* option : options) parsed.defaults_[option->name] = option->default_text;
  parsed.help_ = std::ranges::any_of(
      args, [](const std::string& arg) { return arg == "-h" || arg == "--help"; });
  if (parsed.help_) return parsed;
  if (separator != all_args.end() && parsed.rest_.empty()) {
    throw UsageError("--: name the program to run");
  }

  const po::options_description description = Description(options);
  po::positional_options_description positional;
  positional.add(kPositionalName, -1);
  po::variables_map values;
  try {
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    po::store(po::command_line_parser(SpellSwitchesOut(args, options))
                  .options(description)
                  .positional(positional)
                  .style(style)
                  .run(),
              values);
  } catch (const po::unknown_option& error) {
    RefuseUnknownFlag(verb_, error.get_option_name(), Names());
  } catch (const po::multiple_occurrences& error) {
    throw UsageError(fmt::format("{}: {} is given more than once", verb_, error.get_option_name()));
  } catch (const po::invalid_command_line_syntax& error) {
    throw UsageError(fmt::format("{}: {} needs a value", verb_, error.get_option_name()));
  } catch (const po::error& error) {
    throw UsageError(fmt::format("{}: {}", verb_, error.what()));
  }
  for (const Option* option : options) {
    if (values.count(option->name) == 0) continue;
    if (option->repeatable) {
      parsed.repeated_[option->name] = values[option->name].as<std::vector<std::string>>();
    } else {
      parsed.written_[option->name] = values[option->name].as<std::string>();
    }
  }
  parsed.color_ = ParseColorMode(parsed.Get("color"));
  std::vector<std::string> words;
  if (values.count(kPositionalName) > 0) {
    words = values[kPositionalName].as<std::vector<std::string>>();
  }
  if (words.size() > positionals_.size()) {
    throw UsageError(
        fmt::format("{}: unexpected argument '{}'", verb_, words[positionals_.size()]));
  }
  if (words.size() < positionals_.size() && positionals_[words.size()].required) {
    throw UsageError(
        fmt::format("{}: {} is missing", verb_, positionals_[words.size()].placeholder));
  }
  if (!words.empty()) parsed.positional_ = words.front();
  parsed.positionals_ = std::move(words);
  return parsed;
}

std::string OptionSet::Help(const Painter& painter) const {
  std::string out = fmt::format("{}: {}\n\n{}\n", painter.Bold("ringside " + verb_), summary_,
                                painter.Bold("Examples:"));
  for (const Example& example : examples_) {
    out += fmt::format("  {}\n      {}\n", example.command, example.meaning);
  }
  std::string usage = "ringside " + verb_;
  for (const Positional& positional : positionals_) {
    usage +=
        positional.required ? " " + positional.placeholder : " [" + positional.placeholder + "]";
  }
  usage += " [options]";
  if (rest_) usage += " [-- " + rest_->placeholder + "]";
  out += fmt::format("\n{}\n  {}\n", painter.Bold("Usage:"), usage);
  for (const Positional& positional : positionals_) {
    out += fmt::format("  {}: {}\n", positional.placeholder, positional.help);
  }
  if (rest_) out += fmt::format("  {}: {}\n", rest_->placeholder, rest_->help);
  for (const Group& group : groups_) {
    out += fmt::format("\n{}\n", painter.Bold(group.title + ":"));
    for (const Option& option : group.options) out += OptionHelp(option);
  }
  out += fmt::format("\n{}\n", painter.Bold("Everywhere:"));
  out += OptionHelp({"color", "WHEN", "auto, always or never", "auto"});
  out += OptionHelp({"help", "", "this page; also -h", ""});
  return out;
}

}  // namespace ringside
