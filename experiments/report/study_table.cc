#include "experiments/report/study_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>

#include "experiments/spec_keys.h"
#include "experiments/strategy_table.h"

namespace ringside {
namespace {

using nlohmann::json;

// What tells configurations apart beside strategy, workers and servers, and what tells nothing.
constexpr std::array<std::string_view, 3> kAxes{"strategy", "workers", "servers"};
constexpr std::array<std::string_view, 5> kIgnored{"repetition", "seed", "timeline", "save_params",
                                                   "timeout_s"};

bool In(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string TextOf(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// The keys besides the axes in which the runs differ.
std::vector<const SpecKey*> VariedKeys(const std::vector<RunResult>& runs) {
  std::vector<const SpecKey*> varied;
  for (const SpecKey& key : SpecKeys()) {
    if (In(kAxes, key.json_name) || In(kIgnored, key.json_name)) continue;
    const auto differs = [&](const RunResult& run) {
      return key.get(run.spec) != key.get(runs.front().spec);
    };
    if (std::ranges::any_of(runs, differs)) varied.push_back(&key);
  }
  return varied;
}

std::optional<double> Number(const json& summary, const char* pointer) {
  const json::json_pointer at(pointer);
  if (!summary.contains(at) || !summary[at].is_number()) return std::nullopt;
  return summary[at].get<double>();
}

// Zero means "nothing declared" where theory has no figure.
std::optional<double> PositiveNumber(const json& summary, const char* pointer) {
  const std::optional<double> number = Number(summary, pointer);
  return number && *number > 0 ? number : std::nullopt;
}

template <typename F>
std::optional<double> MedianOver(const std::vector<const RunResult*>& runs, const F& value_of) {
  std::vector<double> values;
  for (const RunResult* run : runs) {
    if (const std::optional<double> value = value_of(run->summary)) values.push_back(*value);
  }
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::optional<double> MedianOf(const std::vector<const RunResult*>& runs, const char* pointer) {
  return MedianOver(runs, [&](const json& summary) { return Number(summary, pointer); });
}

std::optional<double> BytesPerStep(const json& summary) {
  const std::optional<double> bytes = Number(summary, "/bytes_sent_per_worker");
  const std::optional<double> steps = PositiveNumber(summary, "/steps");
  if (!bytes || !steps) return std::nullopt;
  return *bytes / *steps;
}

std::optional<double> BoundBytes(const RunSpec& spec, const json& summary) {
  const StrategyEntry* strategy = FindStrategy(spec.strategy);
  const std::optional<double> parameters = Number(summary, "/parameters");
  if (strategy == nullptr || strategy->bound == nullptr || !parameters) return std::nullopt;
  CostInput input;
  input.workers = spec.workers;
  input.servers = spec.servers;
  input.colocated = spec.colocated;
  input.bytes = *parameters * sizeof(float);
  return strategy->bound(input).bytes_sent_per_worker;
}

StudyCell MakeCell(const std::vector<const RunResult*>& all,
                   const std::vector<const SpecKey*>& varied) {
  std::vector<const RunResult*> done;
  for (const RunResult* run : all) {
    if (run->summary["status"] == "done") done.push_back(run);
  }
  const RunSpec& spec = all.front()->spec;
  StudyCell cell;
  cell.strategy = spec.strategy;
  cell.workers = spec.workers;
  cell.servers = spec.servers;
  cell.colocated = spec.colocated;
  for (const SpecKey* key : varied) {
    cell.varied[std::string(key->json_name)] = TextOf(key->get(spec));
  }
  cell.runs = static_cast<int>(done.size());
  cell.failed = static_cast<int>(all.size() - done.size());
  cell.step_ms = MedianOf(done, "/step_ms/median");
  cell.exposed_comm_ms = MedianOf(done, "/exposed_comm_ms");
  cell.samples_per_s = MedianOf(done, "/samples_per_s");
  cell.bytes_per_step = MedianOver(done, BytesPerStep);
  cell.bound_bytes_per_step =
      MedianOver(done, [&](const json& summary) { return BoundBytes(spec, summary); });
  cell.bound_ms =
      MedianOver(done, [](const json& summary) { return PositiveNumber(summary, "/bound_ms"); });
  cell.bound_ratio =
      MedianOver(done, [](const json& summary) { return PositiveNumber(summary, "/bound_ratio"); });
  cell.accuracy = MedianOf(done, "/eval_accuracy");
  cell.loss = MedianOf(done, "/final_loss");
  cell.staleness_mean = MedianOf(done, "/staleness/mean");
  return cell;
}

// The best single worker of the same varied keys: a speed-up needs a baseline that one would really
// use, and its name beside it.
void AddSpeedups(std::vector<StudyCell>& cells) {
  for (StudyCell& cell : cells) {
    const StudyCell* best = nullptr;
    for (const StudyCell& other : cells) {
      if (other.workers != 1 || !other.samples_per_s || other.varied != cell.varied) continue;
      if (best == nullptr || *other.samples_per_s > *best->samples_per_s) best = &other;
    }
    if (best == nullptr || !cell.samples_per_s || *best->samples_per_s <= 0) continue;
    cell.baseline = best->strategy + ", 1 worker";
    cell.speedup = *cell.samples_per_s / *best->samples_per_s;
    cell.efficiency = *cell.speedup / cell.workers;
  }
}

std::size_t PlaceInTable(const std::string& strategy) {
  const auto table = StrategyTable();
  const auto found =
      std::ranges::find(table, strategy, [](const auto* entry) { return entry->name; });
  return static_cast<std::size_t>(found - table.begin());
}

auto OrderOf(const StudyCell& cell) {
  return std::tuple(cell.varied, PlaceInTable(cell.strategy), cell.strategy, cell.workers,
                    cell.colocated, cell.servers);
}

std::string Label(const RunSpec& spec) {
  std::string label = fmt::format("{} workers={}", spec.strategy, spec.workers);
  if (spec.servers > 0) label += fmt::format(" servers={}", spec.servers);
  if (spec.repetition > 0) label += fmt::format(" repetition={}", spec.repetition);
  return label;
}

}  // namespace

StudyTable MakeStudyTable(const StudyInput& input) {
  StudyTable table;
  table.name = input.name;
  table.problems = input.problems;
  if (input.runs.empty()) return table;

  const std::vector<const SpecKey*> varied = VariedKeys(input.runs);
  for (const SpecKey* key : varied) table.varied_keys.emplace_back(key->json_name);
  std::map<std::string, std::vector<const RunResult*>> groups;
  for (const RunResult& run : input.runs) {
    json key = run.spec;
    for (const std::string_view name : kIgnored) key.erase(std::string(name));
    groups[key.dump()].push_back(&run);
    if (run.summary["status"] == "done") continue;
    table.failed.push_back({run.directory, Label(run.spec),
                            run.summary["status"].get<std::string>(),
                            run.summary.value("error", "")});
  }
  for (const auto& [key, runs] : groups) table.cells.push_back(MakeCell(runs, varied));
  AddSpeedups(table.cells);
  std::ranges::sort(table.cells, {}, OrderOf);
  return table;
}

}  // namespace ringside
