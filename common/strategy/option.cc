#include "ringside/common/strategy/option.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

std::string Text(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

bool HasLeast(double least) { return least > -std::numeric_limits<double>::max(); }
bool HasMost(double most) { return most < std::numeric_limits<double>::max(); }

double LeastOf(std::int64_t least) {
  return least == std::numeric_limits<std::int64_t>::min() ? -std::numeric_limits<double>::max()
                                                           : static_cast<double>(least);
}
double MostOf(std::int64_t most) {
  return most == std::numeric_limits<std::int64_t>::max() ? std::numeric_limits<double>::max()
                                                          : static_cast<double>(most);
}

bool HasType(const OptionValue& value, OptionType type) {
  switch (type) {
    case OptionType::kSwitch:
      return std::holds_alternative<bool>(value);
    case OptionType::kInteger:
      return std::holds_alternative<std::int64_t>(value);
    case OptionType::kReal:
      return std::holds_alternative<double>(value);
    case OptionType::kText:
    case OptionType::kChoice:
      break;
  }
  return std::holds_alternative<std::string>(value);
}

const char* TypeName(OptionType type) {
  switch (type) {
    case OptionType::kSwitch:
      return "true or false";
    case OptionType::kInteger:
      return "a whole number";
    case OptionType::kReal:
      return "a number";
    case OptionType::kText:
    case OptionType::kChoice:
      break;
  }
  return "text";
}

std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

OptionDeclaration::OptionDeclaration(std::string_view option_name,
                                     std::string_view option_placeholder,
                                     std::string_view option_help, OptionType option_type,
                                     OptionValue value, OptionRole option_role)
    : name(option_name),
      placeholder(option_placeholder),
      help(option_help),
      type(option_type),
      default_value(std::move(value)),
      role(option_role) {}

OptionDeclaration::OptionDeclaration(const IntegerOption& option)
    : OptionDeclaration(option.name, option.placeholder, option.help, OptionType::kInteger,
                        option.default_value, option.role) {
  least = LeastOf(option.least);
  most = MostOf(option.most);
  hint = option.hint;
  written_only_if_set = option.written_only_if_set;
}

OptionDeclaration::OptionDeclaration(const RealOption& option)
    : OptionDeclaration(option.name, option.placeholder, option.help, OptionType::kReal,
                        option.default_value, OptionRole::kOwn) {
  least = option.least;
  most = option.most;
  above_least = option.above_least;
  below_most = option.below_most;
  hint = option.hint;
}

OptionDeclaration::OptionDeclaration(const SwitchOption& option)
    : OptionDeclaration(option.name, option.default_value ? "on|off" : "", option.help,
                        OptionType::kSwitch, option.default_value, OptionRole::kOwn) {
  written_only_if_set = option.written_only_if_set;
}

OptionDeclaration::OptionDeclaration(const TextOption& option)
    : OptionDeclaration(option.name, option.placeholder, option.help, OptionType::kText,
                        std::string(option.default_value), option.role) {}

OptionDeclaration OptionDeclaration::OneOf(const TextOption& option, std::string_view noun,
                                           std::vector<std::string> choices) {
  OptionDeclaration declaration = option;
  declaration.type = OptionType::kChoice;
  declaration.noun = noun;
  declaration.choices = std::move(choices);
  return declaration;
}

std::string OptionDeclaration::RangeText() const {
  std::string text;
  if (HasLeast(least)) text = above_least ? "above " + Text(least) : Text(least) + " or more";
  if (!HasMost(most)) return text;
  return text + (text.empty() ? "" : " and ") +
         (below_most ? "below " + Text(most) : "at most " + Text(most));
}

void OptionDeclaration::Check(const OptionValue& value) const {
  if (!HasType(value, type)) throw ConfigError(std::string(TypeName(type)) + " expected");
  if (type == OptionType::kChoice) {
    const auto& text = std::get<std::string>(value);
    if (std::ranges::find(choices, text) != choices.end()) return;
    throw ConfigError("no " + noun + " is called '" + text + "'; there are " + Listed(choices));
  }
  if (type != OptionType::kInteger && type != OptionType::kReal) return;
  const double number = type == OptionType::kInteger
                            ? static_cast<double>(std::get<std::int64_t>(value))
                            : std::get<double>(value);
  const bool enough = above_least ? number > least : number >= least;
  const bool not_too_much = below_most ? number < most : number <= most;
  if (enough && not_too_much) return;
  throw ConfigError(Text(number) + " is out of range; give a number that is " + RangeText() +
                    (hint.empty() ? "" : " (" + hint + ")"));
}

}  // namespace ringside
