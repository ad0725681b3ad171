#ifndef RINGSIDE_EXPERIMENTS_CLI_SPEC_OPTIONS_H_
#define RINGSIDE_EXPERIMENTS_CLI_SPEC_OPTIONS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/cli/option_set.h"
#include "experiments/job/rank_environment.h"
#include "experiments/run_spec.h"
#include "experiments/spec_keys.h"

namespace ringside {

/// A run spec and where each of its values came from.
struct EffectiveSpec {
  struct Source {
    enum class Kind { kFlag, kEnvironment, kFile };
    Kind kind;
    std::string place;  ///< "--workers", "RINGSIDE_WORKERS", "FILE:3:1: workers"
  };
  RunSpec spec;
  std::map<std::string, Source, std::less<>> sources;  ///< By key; defaults are absent.
  std::string file{};                                  ///< That was read; empty: none.
};

/// How a verb takes a run spec.
struct SpecOptions {
  RunSpec defaults;
  std::string file{};                     ///< Read instead of that of --config; empty: none.
  std::vector<std::string_view> without;  ///< Keys that the verb sets itself.

  bool Takes(const SpecKey& key) const;
};

/// Adds the keys of a run spec as flags, their defaults shown, --config and --print-config.
void AddSpecOptions(OptionSet& options, const SpecOptions& takes);

/// Flags before RINGSIDE_* variables before the file of --config before the defaults. A batch of
/// either kind replaces the other kind of a weaker source. Throws `UsageError`, or `ConfigError`
/// with `file:line:column`.
EffectiveSpec ReadSpec(const ParsedOptions& parsed, const Environment& environment,
                       const SpecOptions& takes);

/// `Resolve` or `ResolveStrategy`, its refusals pointing at the flag, the variable or the line that
/// is to blame.
RunSpec ResolveEffective(const EffectiveSpec& effective, RunSpec (*resolve)(RunSpec) = Resolve);

/// The spec as a file that --config reads, each line with its source.
std::string PrintConfig(const EffectiveSpec& effective, const RunSpec& resolved);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CLI_SPEC_OPTIONS_H_
