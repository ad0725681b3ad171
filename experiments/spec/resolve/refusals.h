#ifndef RINGSIDE_EXPERIMENTS_SPEC_RESOLVE_REFUSALS_H_
#define RINGSIDE_EXPERIMENTS_SPEC_RESOLVE_REFUSALS_H_

// Private to the .cc files of this folder.

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// Throws `SpecKeyError` if a value is wrong: names its key.
template <typename... Args>
void Refuse(bool wrong, std::string_view key, fmt::format_string<Args...> reason, Args&&... args) {
  if (wrong) {
    throw SpecKeyError(std::string(key), fmt::format(reason, std::forward<Args>(args)...));
  }
}

/// The same for values that do not fit together: names the key to change, then the others.
template <typename... Args>
void RefuseTogether(bool wrong, std::string_view key,
                    std::initializer_list<std::string_view> others,
                    fmt::format_string<Args...> reason, Args&&... args) {
  if (wrong) {
    throw SpecKeyError(std::string(key), fmt::format(reason, std::forward<Args>(args)...), others);
  }
}

/// Throws for a name that is none of `names`, with the nearest of them.
[[noreturn]] void RefuseUnknown(std::string_view key, std::string_view what, std::string_view name,
                                const std::vector<std::string_view>& names);

/// What the names in a spec mean. Each throws for a name that the catalog lacks.
const StrategyEntry& StrategyOf(const RunSpec& spec);
const ModelEntry& ModelOf(const RunSpec& spec);
const DatasetEntry& DatasetOf(const RunSpec& spec);

/// "only mlp has hidden widths": the models of the catalog with a trait, and what that lets them
/// do.
std::string OfModels(const RunSpec& spec, bool ModelTraits::*trait, std::string_view one_does,
                     std::string_view many_do);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SPEC_RESOLVE_REFUSALS_H_
