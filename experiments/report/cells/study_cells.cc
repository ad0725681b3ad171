#include "ringside/experiments/report/cells/study_cells.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

#include "ringside/experiments/report/cells/bound_explanation.h"
#include "ringside/experiments/report/cells/condition_text.h"
#include "ringside/experiments/report/cells/study_fidelity.h"
#include "ringside/experiments/report/cells/study_numbers.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/transport.h"
#include "ringside/experiments/statistics/outliers.h"
#include "ringside/experiments/statistics/quantile.h"
#include "ringside/experiments/statistics/scaling.h"

namespace ringside {
namespace {

using nlohmann::json;

// The keys that have their own column in every study, and those that add no information.
constexpr std::array<std::string_view, 3> kAxes{"strategy", "workers", "servers"};
constexpr std::array<std::string_view, 7> kIgnored{
    "repetition",        "seed",        "timeline", "timeline_steps",
    "timeline_filename", "save_params", "timeout_s"};
// A key whose value usually follows from other keys.
struct Follower {
  std::string_view key;
  std::array<std::string_view, 2> leaders;
};
constexpr std::array kFollowers{Follower{"hosts", {"workers", "network"}},
                                Follower{"compute_ms", {"model", "model"}},
                                Follower{"link_bits_per_s", {"network", "network"}},
                                Follower{"link_latency_s", {"network", "network"}}};

bool In(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string TextOf(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// True when runs with equal values of the leaders always have equal values of the key. Then the key
// adds no information.
bool Follows(const SpecKey& key, const Follower& follower, const std::vector<RunResult>& runs) {
  std::map<json, json> values;
  return std::ranges::all_of(runs, [&](const RunResult& run) {
    json lead = json::array();
    for (const std::string_view leader : follower.leaders) {
      lead.push_back(run.spec.catalog().FindKey(leader)->get(run.spec));
    }
    const json value = key.get(run.spec);
    return values.emplace(std::move(lead), value).first->second == value;
  });
}

bool IsFollower(const SpecKey& key, const std::vector<RunResult>& runs) {
  const auto found = std::ranges::find(kFollowers, key.json_name, &Follower::key);
  return found != kFollowers.end() && Follows(key, *found, runs);
}

// The number of hosts with workers; 1 if the summaries do not say.
int HostsOf(const RunResult& run) {
  const json hosts = run.summary.value("hosts", json());
  return hosts.is_number_integer() ? hosts.get<int>() : std::max(1, run.spec.hosts);
}

bool ChoosesTransport(const StrategyEntry& entry, const RunSpec& spec) {
  return std::ranges::any_of(entry.options, [&](const OptionDeclaration& option) {
    return option.role == OptionRole::kTransport &&
           spec.options.ValueOf(option) != option.default_value;
  });
}

json ConfigurationObject(const RunSpec& spec) {
  json object = spec;
  for (const std::string_view name : kIgnored) object.erase(std::string(name));
  return object;
}

std::string ConfigurationWithoutCarrier(RunSpec spec) {
  if (spec.network) spec.network->congestion = kDefaultCongestion;
  json object = ConfigurationObject(spec);
  for (const SpecKey& key : spec.catalog().keys()) {
    if (key.option == OptionRole::kTransport) object.erase(key.json_name);
  }
  return object.dump();
}

void AddIdentity(const RunResult& run, const std::vector<const SpecKey*>& varied, StudyCell& cell) {
  const RunSpec& spec = run.spec;
  cell.strategy = spec.strategy;
  const auto strategies = spec.catalog().strategies();
  const auto entry = std::ranges::find(strategies, spec.strategy, &StrategyEntry::name);
  cell.place_in_catalog = static_cast<std::size_t>(entry - strategies.begin());
  if (entry != strategies.end()) {
    cell.traits = entry->traits;
    cell.family = FamilyName(entry->traits.family);
    cell.synchronous = entry->traits.synchronous();
    cell.transport_chosen = ChoosesTransport(*entry, spec);
  }
  cell.workers = spec.workers;
  cell.servers = spec.servers;
  cell.colocated = spec.colocated;
  if (spec.network && !spec.colocated) cell.server_hosts = spec.servers;
  cell.scaling = spec.batch_per_worker > 0 ? "weak" : "strong";
  cell.global_batch = spec.ResolvedGlobalBatch();
  cell.configuration = ConfigurationOf(spec);
  cell.carried = ConfigurationWithoutCarrier(spec);
  if (spec.network) cell.congestion = spec.network->congestion;
  const TransportUse transport = TransportOf(spec, HostsOf(run));
  cell.transport = transport.name;
  cell.medium = transport.medium_name();
  cell.emulated_compute = run.summary.value("emulated_compute", json()) == json(true);
  for (const SpecKey* key : varied) {
    cell.varied[key->json_name] = TextOf(key->get(spec));
    cell.conditions[key->json_name] = ConditionText(*key, spec);
    if (key->option) cell.varied_options[key->json_name] = *key->option;
    if (entry != strategies.end() && entry->Declares(key->name)) {
      cell.own_options.insert(key->json_name);
    }
  }
}

std::vector<double> ValuesOf(const StudyCell& cell, std::optional<double> StudyRun::*number) {
  std::vector<double> values;
  for (const StudyRun* run : CountedRuns(cell)) {
    const std::optional<double>& value = run->*number;
    if (value) values.push_back(*value);
  }
  return values;
}

void AddMedians(StudyCell& cell, MedianBootstrap& bootstrap) {
  for (const MedianNumber& number : kMedianNumbers) {
    std::vector<double> values = ValuesOf(cell, number.run);
    cell.*number.cell = Median(values);
    if (const auto interval = bootstrap.IntervalOf(std::move(values))) {
      cell.intervals[number.name] = *interval;
    }
  }
  std::map<std::string, std::vector<double>> metrics;
  for (const StudyRun* run : CountedRuns(cell)) {
    for (const auto& [name, value] : run->metrics) metrics[name].push_back(value);
  }
  for (auto& [name, values] : metrics) cell.metrics[name] = Median(std::move(values)).value();
}

// A run that never reached the target counts as infinitely slow. Leaving it out would make the cell
// look better.
void AddTimesToTarget(StudyCell& cell) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const auto median = [&](std::optional<double> StudyRun::*number) -> std::optional<double> {
    std::vector<double> values;
    for (const StudyRun* run : CountedRuns(cell)) {
      if (!run->curve.empty()) values.push_back((run->*number).value_or(kNever));
    }
    const std::optional<double> middle = Median(std::move(values));
    return middle && *middle < kNever ? middle : std::nullopt;
  };
  cell.seconds_to_target = median(&StudyRun::seconds_to_target);
  cell.epochs_to_target = median(&StudyRun::epochs_to_target);
  cell.samples_to_target = median(&StudyRun::samples_to_target);
  cell.reached_target = static_cast<int>(std::ranges::count_if(
      CountedRuns(cell), [](const StudyRun* run) { return run->seconds_to_target.has_value(); }));
}

// A limited run has its own mark. Its step time does not say how far the others are spread.
void MarkOutliers(StudyCell& cell) {
  std::vector<StudyRun*> timed;
  std::vector<double> values;
  const bool all_limited = IsAllLimited(cell);
  for (StudyRun& run : cell.results) {
    if (!IsDone(run) || !run.step_ms || (IsLimited(run) && !all_limited)) continue;
    timed.push_back(&run);
    values.push_back(*run.step_ms);
  }
  const std::vector<bool> outliers = Outliers(values);
  for (std::size_t i = 0; i < timed.size(); ++i) timed[i]->outlier = outliers[i];
}

void AddCriticalPath(StudyCell& cell) {
  CriticalPath path;
  bool any = false;
  for (const CriticalPart& part : kCriticalParts) {
    std::vector<double> values;
    for (const StudyRun* run : CountedRuns(cell)) {
      if (!run->critical_path) continue;
      if (const auto value = (*run->critical_path).*part.value) values.push_back(*value);
    }
    path.*part.value = Median(std::move(values));
    any = any || (path.*part.value).has_value();
  }
  if (any) cell.critical_path = path;
}

void AddStaleness(StudyCell& cell) {
  for (const StudyRun* run : CountedRuns(cell)) {
    for (const auto& [versions, updates] : run->staleness) cell.staleness[versions] += updates;
  }
}

void AddBoundFlag(StudyCell& cell) {
  if (cell.bound_ratio.value_or(1) > kAboveBound ||
      cell.achievable_ratio.value_or(1) > kAboveAchievable) {
    cell.bound_flag = "above";
  }
  if (cell.bound_ratio && *cell.bound_ratio < kBelowBound) cell.bound_flag = "below";
  for (const StudyRun& run : cell.results) {
    if (IsDone(run) && cell.bound_missing.empty()) cell.bound_missing = run.bound_missing;
  }
  BoundExplanation explanation = ExplainBound(cell);
  cell.bound_explanation = std::move(explanation.text);
  cell.bound_explained = explanation.explained;
}

// The best single worker of the same workload. A speed-up needs a baseline that people would really
// use, and names it.
std::map<Workload, const StudyCell*> Baselines(const std::vector<StudyCell>& cells) {
  std::map<Workload, const StudyCell*> baselines;
  for (const StudyCell& cell : cells) {
    const double rate = cell.samples_per_s.value_or(0);
    if (cell.workers != 1 || rate <= 0 || IsAllLimited(cell)) continue;
    const StudyCell*& best = baselines[SharedKeys(cell, false)];
    if (best == nullptr || rate > best->samples_per_s.value_or(0)) best = &cell;
  }
  return baselines;
}

/// `speedup`: over the baseline.
void AddSpeedup(const StudyCell& baseline, double speedup, StudyCell& cell) {
  const double workers = cell.workers;
  cell.baseline = baseline.strategy + ", 1 worker";
  cell.speedup = speedup;
  cell.efficiency = speedup / workers;
  cell.serial_fraction = KarpFlatt(speedup, workers);
  if (&cell == &baseline) return;
  const auto interval = CompareCells(cell, baseline, &StudyRun::samples_per_s).interval;
  if (!interval) return;
  cell.intervals["speedup"] = *interval;
  cell.intervals["efficiency"] = {interval->low / workers, interval->high / workers};
  // It falls when the speed-up rises.
  const std::optional<double> low = KarpFlatt(interval->high, workers);
  const std::optional<double> high = KarpFlatt(interval->low, workers);
  if (low && high) cell.intervals["serial_fraction"] = {*low, *high};
}

using RunKey = std::tuple<int, std::uint64_t>;

std::map<RunKey, double> ByRepetition(const StudyCell& cell,
                                      std::optional<double> StudyRun::*number) {
  std::map<RunKey, double> values;
  for (const StudyRun* run : CountedRuns(cell)) {
    const std::optional<double>& value = run->*number;
    if (value) values[{run->repetition, run->seed}] = *value;
  }
  return values;
}

}  // namespace

std::string ConfigurationOf(const RunSpec& spec) { return ConfigurationObject(spec).dump(); }

std::vector<const SpecKey*> VariedKeys(const std::vector<RunResult>& runs) {
  std::vector<const SpecKey*> varied;
  if (runs.empty()) return varied;
  for (const SpecKey& key : runs.front().spec.catalog().keys()) {
    // The transport has its own column too.
    if (key.option == OptionRole::kTransport) continue;
    if (In(kAxes, key.json_name) || In(kIgnored, key.json_name)) continue;
    if (IsFollower(key, runs)) continue;
    const auto differs = [&](const RunResult& run) {
      return key.get(run.spec) != key.get(runs.front().spec);
    };
    if (std::ranges::any_of(runs, differs)) varied.push_back(&key);
  }
  return varied;
}

StudyCell MakeCell(const std::vector<const RunResult*>& runs, std::vector<StudyRun> results,
                   const std::vector<const SpecKey*>& varied, MedianBootstrap& bootstrap) {
  StudyCell cell;
  AddIdentity(*runs.front(), varied, cell);
  cell.results = std::move(results);
  std::ranges::sort(cell.results, {}, [](const StudyRun& run) {
    return std::tuple(run.repetition, run.seed, run.directory);
  });
  cell.runs = static_cast<int>(std::ranges::count_if(cell.results, IsDone));
  cell.failed = static_cast<int>(cell.results.size()) - cell.runs;
  cell.limited = static_cast<int>(std::ranges::count_if(cell.results, IsDoneButLimited));
  MarkOutliers(cell);
  AddMedians(cell, bootstrap);
  AddTimesToTarget(cell);
  AddCriticalPath(cell);
  AddStaleness(cell);
  AddBoundFlag(cell);
  return cell;
}

void AddSpeedups(std::vector<StudyCell>& cells) {
  const auto baselines = Baselines(cells);
  for (StudyCell& cell : cells) {
    const auto baseline = baselines.find(SharedKeys(cell, false));
    if (baseline == baselines.end() || !cell.samples_per_s) continue;
    const double one_worker = baseline->second->samples_per_s.value_or(0);  // more than 0
    AddSpeedup(*baseline->second, *cell.samples_per_s / one_worker, cell);
  }
}

Workload SharedKeys(const StudyCell& cell, bool keep_codec) {
  Workload shared;
  for (const auto& [name, value] : cell.varied) {
    const auto option = cell.varied_options.find(name);
    const bool of_strategies = option != cell.varied_options.end();
    const bool encodes = of_strategies && option->second == OptionRole::kEncoding;
    if (!of_strategies || (encodes && keep_codec)) shared[name] = value;
  }
  return shared;
}

Comparison CompareCells(const StudyCell& a, const StudyCell& b,
                        std::optional<double> StudyRun::*number) {
  const auto of_a = ByRepetition(a, number);
  const auto of_b = ByRepetition(b, number);
  std::vector<double> paired_a;
  std::vector<double> paired_b;
  for (const auto& [key, value] : of_a) {
    const auto partner = of_b.find(key);
    if (partner == of_b.end()) continue;
    paired_a.push_back(value);
    paired_b.push_back(partner->second);
  }
  const std::vector<double> all_a = ValuesOf(a, number);
  const std::vector<double> all_b = ValuesOf(b, number);
  // Pairs would leave out a run without a partner, and so hide that its partner failed.
  const bool all = paired_a.size() == all_a.size() && paired_b.size() == all_b.size();
  if (all && !paired_a.empty()) return ComparePaired(paired_a, paired_b);
  return CompareIndependent(all_a, all_b);
}

}  // namespace ringside
