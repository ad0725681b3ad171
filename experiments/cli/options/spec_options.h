#ifndef RINGSIDE_EXPERIMENTS_CLI_OPTIONS_SPEC_OPTIONS_H_
#define RINGSIDE_EXPERIMENTS_CLI_OPTIONS_SPEC_OPTIONS_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/experiments/cli/options/option_set.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/resolve/resolve.h"
#include "ringside/experiments/spec/run_spec.h"
#include "ringside/experiments/system/environment/rank_environment.h"

namespace ringside {

/// A run spec and the source of each of its values.
struct EffectiveSpec {
  struct Source {
    enum class Kind { kFlag, kEnvironment, kFile };
    Kind kind;
    std::string place;  ///< "--workers", "RINGSIDE_WORKERS", "FILE:3:1: workers"
  };
  RunSpec spec;
  std::map<std::string, Source, std::less<>> sources;  ///< By key; none for a default.
  std::string file{};                                  ///< The file that was read; empty: none.
};

/// Which run spec keys a verb takes, and their defaults.
struct SpecOptions {
  RunSpec defaults;                         ///< Its catalog holds the keys that the verb takes.
  std::string file{};                       ///< Read instead of the file of --config; empty: none.
  std::vector<std::string_view> without{};  ///< Keys that the verb sets itself.

  bool Takes(const SpecKey& key) const;
};

/// Adds the keys of a run spec as flags with their defaults, and --config and --print-config.
void AddSpecOptions(OptionSet& options, const SpecOptions& takes);

/// Reads a run spec. Flags have priority over RINGSIDE_* variables, these over the file of
/// --config, and the file over the defaults. A batch of one kind replaces a batch of the other kind
/// from a weaker source. Throws `UsageError`, or `ConfigError` with `file:line:column`.
EffectiveSpec ReadSpec(const ParsedOptions& parsed, const Environment& environment,
                       const SpecOptions& takes);

/// Calls `resolve`, which is one of the functions of resolve.h. Its errors then name the flag, the
/// variable or the line with the wrong value.
RunSpec ResolveEffective(
    const EffectiveSpec& effective, const std::function<RunSpec(RunSpec)>& resolve =
                                        [](const RunSpec& spec) { return Resolve(spec); });

/// The text of a file that --config reads; each line names the source of its value.
std::string PrintConfig(const EffectiveSpec& effective, const RunSpec& resolved);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CLI_OPTIONS_SPEC_OPTIONS_H_
