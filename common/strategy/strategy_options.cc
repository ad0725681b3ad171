#include "ringside/common/strategy/strategy_options.h"

#include <utility>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

const char* TypeName(const OptionValue& value) {
  if (std::holds_alternative<bool>(value)) return "true or false";
  if (std::holds_alternative<std::int64_t>(value)) return "a whole number";
  if (std::holds_alternative<double>(value)) return "a number";
  return "text";
}

}  // namespace

const OptionValue* StrategyOptions::Find(std::string_view name) const {
  if (declared_ && !declared_->contains(name)) {
    throw ConfigError("strategy '" + strategy_ + "' does not declare the option '" +
                      std::string(name) + "'; add it to the options of its entry");
  }
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

void StrategyOptions::SetValue(const OptionDeclaration& option, OptionValue value) {
  (void)Find(option.name);
  try {
    option.Check(value);
  } catch (const ConfigError& error) {
    throw ConfigError(option.name + ": " + error.what());
  }
  SetUnchecked(option, std::move(value));
}

void StrategyOptions::SetUnchecked(const OptionDeclaration& option, OptionValue value) {
  values_.insert_or_assign(option.name, std::move(value));
}

OptionValue StrategyOptions::ValueOf(const OptionDeclaration& option) const {
  const OptionValue* value = Find(option.name);
  return value == nullptr ? option.default_value : *value;
}

void StrategyOptions::RefuseType(std::string_view name, const OptionValue& value,
                                 const OptionValue& asked) {
  throw ConfigError("option '" + std::string(name) + "' holds " + TypeName(value) +
                    ", but is read as " + TypeName(asked));
}

void StrategyOptions::RefuseChoice(const OptionDeclaration& option, const OptionValue& value) {
  try {
    option.Check(value);
  } catch (const ConfigError& error) {
    throw ConfigError(option.name + ": " + error.what());
  }
  throw InternalError("option '" + option.name + "' has a choice that is none");
}

StrategyOptions StrategyOptions::OnlyDeclared(
    std::string_view strategy, const std::vector<OptionDeclaration>& declared) const {
  StrategyOptions own = *this;
  own.strategy_ = strategy;
  own.declared_.emplace();
  for (const OptionDeclaration& option : declared) own.declared_->insert(option.name);
  std::erase_if(own.values_,
                [&](const auto& entry) { return !own.declared_->contains(entry.first); });
  return own;
}

std::optional<OptionRefusal> CheckErrorFeedback(const CodecOptions& codec) {
  if (codec.encodes() || codec.error_feedback != ErrorFeedback::kOn) {
    return std::nullopt;
  }
  return OptionRefusal{"error-feedback",
                       "fp32 loses nothing that could be fed back; name a codec, or leave it at "
                       "auto"};
}

}  // namespace ringside
