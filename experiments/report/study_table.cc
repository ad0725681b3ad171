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

// What has a column of its own in every study, and what tells nothing.
constexpr std::array<std::string_view, 4> kAxes{"strategy", "workers", "servers", "ps_transport"};
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

// Over the runs that have the number.
std::optional<double> MedianOf(const std::vector<const RunResult*>& runs, const char* pointer) {
  std::vector<double> values;
  for (const RunResult* run : runs) {
    if (const std::optional<double> value = Number(run->summary, pointer)) values.push_back(*value);
  }
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
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
  const json transport = all.front()->summary.value("transport", json());
  if (transport.is_string()) cell.transport = transport.get<std::string>();
  for (const SpecKey* key : varied) {
    cell.varied[std::string(key->json_name)] = TextOf(key->get(spec));
  }
  cell.runs = static_cast<int>(done.size());
  cell.failed = static_cast<int>(all.size() - done.size());
  cell.step_ms = MedianOf(done, "/step_ms/median");
  cell.exposed_comm_ms = MedianOf(done, "/exposed_comm_ms");
  cell.samples_per_s = MedianOf(done, "/samples_per_s");
  cell.bytes_per_step = MedianOf(done, "/bytes_sent_per_worker_per_step");
  cell.bound_bytes_per_step = MedianOf(done, "/bound_bytes_sent_per_worker_per_step");
  cell.bound_ms = MedianOf(done, "/bound_ms");
  cell.bound_ratio = MedianOf(done, "/bound_ratio");
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
                    cell.colocated, cell.servers, cell.transport);
}

std::string ErrorOf(const json& summary) {
  const auto error = summary.find("error");
  return error != summary.end() && error->is_string() ? error->get<std::string>() : "";
}

std::string Label(const RunSpec& spec) {
  std::string label = fmt::format("{} workers={}", spec.strategy, spec.workers);
  if (spec.servers > 0) label += fmt::format(" servers={}", spec.servers);
  if (spec.repetition > 0) label += fmt::format(" repetition={}", spec.repetition);
  return label;
}

}  // namespace

bool MixesTransports(const StudyTable& table) {
  std::set<std::string> transports;
  for (const StudyCell& cell : table.cells) {
    if (!cell.transport.empty()) transports.insert(cell.transport);
  }
  return transports.size() > 1;
}

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
                            run.summary["status"].get<std::string>(), ErrorOf(run.summary)});
  }
  for (const auto& [key, runs] : groups) table.cells.push_back(MakeCell(runs, varied));
  AddSpeedups(table.cells);
  std::ranges::sort(table.cells, {}, OrderOf);
  return table;
}

}  // namespace ringside
