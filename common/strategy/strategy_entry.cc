#include "ringside/common/strategy/strategy_entry.h"

#include <algorithm>

namespace ringside {

bool StrategyEntry::Declares(std::string_view option) const {
  return std::ranges::find(options, option, &OptionDeclaration::name) != options.end();
}

}  // namespace ringside
