#include "ringside/experiments/matrix/matrix_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/spec/bundle.h"
#include "ringside/experiments/spec/catalog.h"

namespace ringside {
namespace {

constexpr std::size_t kMaxRuns = 100'000;

struct Combination {
  std::vector<Setting> settings;  // on top of the defaults
  bool included = false;          // from `include`, not from axes
};

std::vector<Combination> MultiplyAxes(const MatrixSpec& spec) {
  std::vector<Combination> combinations;
  if (spec.axes.empty()) return combinations;
  combinations.emplace_back();
  for (const Axis& axis : spec.axes) {
    if (combinations.size() * axis.values.size() > kMaxRuns) {
      throw ConfigError(fmt::format("{}: the axes make more than {} runs", spec.path, kMaxRuns));
    }
    std::vector<Combination> longer;
    for (const Combination& combination : combinations) {
      for (const Setting& value : axis.values) {
        longer.push_back(combination);
        longer.back().settings.push_back(value);
      }
    }
    combinations = std::move(longer);
  }
  return combinations;
}

// Makes the servers a number: "servers: workers" is "servers: 4" with four workers.
RunSpec Counted(RunSpec run) {
  if (run.servers_as_workers || (run.colocated && run.servers == 0)) run.servers = run.workers;
  run.servers_as_workers = false;
  return run;
}

bool IsExcluded(const MatrixSpec& spec, const RunSpec& run) {
  const RunSpec counted = Counted(run);
  const auto has = [&](const Setting& setting) {
    return setting.key->get(run) == setting.value || setting.key->get(counted) == setting.value;
  };
  return std::ranges::any_of(
      spec.exclude, [&](const auto& settings) { return std::ranges::all_of(settings, has); });
}

bool HasServers(const RunSpec& run) {
  const StrategyEntry* strategy = run.catalog().FindStrategy(run.strategy);
  return strategy == nullptr || strategy->traits.has_servers();
}

// The position of the first of these keys that the file sets: in the combination, else in the
// defaults. If there is none, the top of the file.
Position PositionOfKeys(const MatrixSpec& spec, const Combination& combination,
                        const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    for (const auto* settings : {&combination.settings, &spec.defaults}) {
      for (const Setting& setting : *settings) {
        if (setting.key->name == key) return setting.position;
      }
    }
  }
  return {};
}

std::string Label(const MatrixSpec& matrix, const Combination& combination, const RunSpec& run) {
  std::string label = run.strategy;
  std::set<std::string_view> named{"strategy"};
  const auto add = [&](const SpecKey& key) {
    if (!named.insert(key.name).second) return;
    const nlohmann::json value = key.get(run);
    label += fmt::format(" {}={}", key.name,
                         value.is_string() ? value.get<std::string>() : value.dump());
  };
  add(*run.catalog().FindKey("workers"));
  if (HasServers(run)) add(*run.catalog().FindKey("servers"));
  for (const Axis& axis : matrix.axes) {
    if (axis.key->name != "servers") add(*axis.key);
  }
  if (combination.included) {
    for (const Setting& setting : combination.settings) add(*setting.key);
  }
  return label;
}

std::string Placed(const MatrixSpec& spec, const Combination& combination, const RunSpec& run,
                   const std::vector<std::string>& keys, const std::string& message) {
  const Position at = PositionOfKeys(spec, combination, keys);
  return fmt::format("{}:{}:{}: {} (in the run {})", spec.path, at.line, at.column, message,
                     Label(spec, combination, run));
}

RunSpec ResolveAt(const MatrixSpec& spec, const Combination& combination, const RunSpec& run,
                  const Requirement& require, RunsOn where) {
  try {
    RunSpec resolved = Resolve(run, where);
    if (require) require(resolved);
    return resolved;
  } catch (const SpecKeyError& error) {
    throw ConfigError(Placed(spec, combination, run, error.keys(), error.what()));
  } catch (const MissingKeyError& error) {
    throw MissingBackendError(Placed(spec, combination, run, {error.key()}, error.what()));
  }
}

// Fisher-Yates with a fixed generator. The order of std::shuffle depends on the library.
void Shuffle(std::vector<PlannedRun>& runs, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t i = runs.size(); i > 1; --i) std::swap(runs[i - 1], runs[random() % i]);
}

RunSpec Combine(const MatrixSpec& spec, const Combination& combination) {
  RunSpec run(*spec.catalog);
  Apply(run, spec.defaults);
  Apply(run, combination.settings);
  if (!combination.included && !HasServers(run)) {
    run.servers = 0;
    run.colocated = false;
    run.servers_as_workers = false;
  }
  return run;
}

// Plans one repetition. With `keep_going`, combinations that cannot run do not throw.
MatrixPlan OneRepetition(const MatrixSpec& spec, bool keep_going, const Requirement& require,
                         RunsOn where) {
  std::vector<Combination> combinations = MultiplyAxes(spec);
  for (const auto& settings : spec.include) combinations.push_back({settings, true});
  MatrixPlan plan;
  std::set<std::string> ids;
  for (const Combination& combination : combinations) {
    const RunSpec run = Combine(spec, combination);
    if (!combination.included && IsExcluded(spec, run)) continue;
    RunSpec resolved;
    try {
      resolved = ResolveAt(spec, combination, run, require, where);
    } catch (const Error& error) {
      // An unknown strategy name is a typing error, not a combination to refuse.
      if (!keep_going || run.catalog().FindStrategy(run.strategy) == nullptr) throw;
      plan.refused.push_back({Label(spec, combination, run), error.what()});
      continue;
    }
    const std::string id = RunId(resolved);
    if (!ids.insert(id).second) continue;
    const std::string label = Label(spec, combination, resolved);
    plan.runs.push_back({std::move(resolved), id, label});
  }
  if (plan.runs.empty() && !plan.refused.empty()) throw ConfigError(plan.refused.front().reason);
  if (plan.runs.empty()) throw ConfigError(spec.path + ":1:1: 'exclude' leaves no run");
  return plan;
}

std::vector<PlannedRun> Repeat(const MatrixSpec& spec, const std::vector<PlannedRun>& once) {
  if (once.size() * static_cast<std::size_t>(spec.repetitions) > kMaxRuns) {
    throw ConfigError(fmt::format("{}: {} repetitions of {} runs are more than {} runs", spec.path,
                                  spec.repetitions, once.size(), kMaxRuns));
  }
  std::vector<PlannedRun> all;
  for (int repetition = 0; repetition < spec.repetitions; ++repetition) {
    std::vector<PlannedRun> block = once;
    for (PlannedRun& run : block) {
      run.spec.repetition = repetition;
      run.id = RunId(run.spec);
      run.cell = run.label;
      if (spec.repetitions > 1) run.label += fmt::format(" repetition={}", repetition);
    }
    Shuffle(block, spec.order_seed + static_cast<std::uint64_t>(repetition));
    std::ranges::move(block, std::back_inserter(all));
  }
  return all;
}

}  // namespace

std::vector<PlannedRun> PlanMatrix(const MatrixSpec& spec, const Requirement& require,
                                   RunsOn where) {
  return Repeat(spec, OneRepetition(spec, false, require, where).runs);
}

MatrixPlan PlanSupportedRuns(const MatrixSpec& spec, const Requirement& require, RunsOn where) {
  MatrixPlan plan = OneRepetition(spec, true, require, where);
  plan.runs = Repeat(spec, plan.runs);
  return plan;
}

bool ShouldRun(ExistingRunPolicy existing, const std::optional<std::string>& status) {
  if (existing == ExistingRunPolicy::kForce || !IsFinished(status)) return true;
  return existing == ExistingRunPolicy::kRetryFailed && *status != "done";
}

}  // namespace ringside
