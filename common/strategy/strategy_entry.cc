#include "ringside/common/strategy/strategy_entry.h"

#include <algorithm>

#include "ringside/common/base/errors.h"

namespace ringside {

bool StrategyEntry::Declares(std::string_view option) const {
  return std::ranges::find(options, option, &OptionDeclaration::name) != options.end();
}

std::unique_ptr<Strategy> MakeStrategy(const StrategyEntry& entry, const StrategyContext& context) {
  if (entry.make == nullptr) {
    throw ConfigError("the entry of strategy '" + entry.name + "' has no 'make'");
  }
  if (context.caller_updates && !entry.traits.leaves_sums) {
    throw ConfigError("strategy '" + entry.name +
                      "' updates the parameters itself, so its caller cannot");
  }
  StrategyContext own = context;
  own.options = context.options.OnlyDeclared(entry.name, entry.options);
  return entry.make(own);
}

std::unique_ptr<Server> MakeServer(const StrategyEntry& entry, const ServerContext& context) {
  if (entry.make_server == nullptr) {
    throw ConfigError("the entry of strategy '" + entry.name +
                      "' has no 'make_server': it has no parameter servers");
  }
  ServerContext own = context;
  own.options = context.options.OnlyDeclared(entry.name, entry.options);
  return entry.make_server(own);
}

}  // namespace ringside
