#include "ringside/experiments/report/cells/study_scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "ringside/experiments/report/cells/condition_text.h"
#include "ringside/experiments/report/cells/study_cells.h"
#include "ringside/experiments/report/cells/study_fidelity.h"
#include "ringside/experiments/spec/transport.h"
#include "ringside/experiments/statistics/scaling.h"

namespace ringside {
namespace {

// The servers that a study requests: a number, or as many as workers.
enum class Servers { kNone, kDedicated, kPerWorker, kColocated };

struct SeriesKey {
  std::map<std::string, std::string> varied;
  std::string strategy;
  std::string transport;  // that an option chose
  std::string scaling;
  Servers servers;
  int count;  // of servers, if it is the same at every number of workers

  auto operator<=>(const SeriesKey&) const = default;
};

// Another transport follows from the strategy and its hosts.
std::string ChosenTransport(const StudyCell& cell) {
  return cell.transport_chosen ? cell.transport : "";
}

SeriesKey KeyOf(const StudyCell& cell, Servers servers, int count) {
  return {cell.varied, cell.strategy, ChosenTransport(cell), cell.scaling, servers, count};
}

/// The series of a cell; a cell with as many servers as workers belongs to two.
std::vector<SeriesKey> SeriesOf(const StudyCell& cell) {
  if (cell.servers == 0) return {KeyOf(cell, Servers::kNone, 0)};
  if (cell.colocated) {
    if (cell.servers == cell.workers) return {KeyOf(cell, Servers::kColocated, 0)};
    return {KeyOf(cell, Servers::kColocated, cell.servers)};
  }
  std::vector<SeriesKey> keys{KeyOf(cell, Servers::kDedicated, cell.servers)};
  if (cell.servers == cell.workers) keys.push_back(KeyOf(cell, Servers::kPerWorker, 0));
  return keys;
}

std::string ServersText(const SeriesKey& key) {
  switch (key.servers) {
    case Servers::kNone:
      return "";
    case Servers::kDedicated:
      return key.count == 1 ? ", 1 server" : fmt::format(", {} servers", key.count);
    case Servers::kPerWorker:
      return ", a server per worker";
    case Servers::kColocated:
      return key.count == 0 ? ", co-located servers"
                            : fmt::format(", {} co-located servers", key.count);
  }
  return "";
}

std::string LabelOf(const SeriesKey& key, const std::map<std::string, std::string>& conditions) {
  std::string label = key.strategy + ServersText(key);
  if (!key.transport.empty()) label += " over " + key.transport;
  std::vector<std::string> texts;
  for (const auto& [name, text] : conditions) texts.push_back(text);
  return label + AfterNoun(std::move(texts));
}

void Fit(const std::vector<StudyCell>& cells, StudyScaling& series) {
  std::vector<double> workers;
  std::vector<double> step_ms;
  std::vector<double> workers_of_speedups;
  std::vector<double> speedups;
  bool strong = true;
  for (const std::size_t index : series.cells) {
    const StudyCell& cell = cells[index];
    strong = strong && cell.scaling == "strong";
    if (IsAllLimited(cell)) continue;
    for (const StudyRun* run : CountedRuns(cell)) {
      if (!run->step_ms) continue;
      workers.push_back(cell.workers);
      step_ms.push_back(*run->step_ms);
    }
    if (!cell.speedup) continue;
    workers_of_speedups.push_back(cell.workers);
    speedups.push_back(*cell.speedup);
  }
  if (const auto line = FitLine(workers, step_ms)) {
    series.step_ms_slope = line->slope;
    series.step_ms_intercept = line->intercept;
    series.step_ms_r2 = line->r2;
  }
  if (strong) series.amdahl_serial_fraction = FitAmdahl(workers_of_speedups, speedups);
}

std::set<int> WorkersOf(const std::vector<StudyCell>& cells,
                        const std::vector<std::size_t>& series) {
  std::set<int> workers;
  for (const std::size_t index : series) workers.insert(cells[index].workers);
  return workers;
}

}  // namespace

std::string StrategyText(const StudyCell& cell) {
  std::string text = cell.strategy;
  if (cell.servers > 0) {
    text += fmt::format(" with {} {}{}", cell.servers, cell.colocated ? "co-located " : "",
                        cell.servers == 1 ? "server" : "servers");
  }
  const std::string transport = ChosenTransport(cell);
  if (!transport.empty()) text += " over " + transport;
  return text;
}

std::string VariedText(const StudyCell& cell, const std::string& key) {
  const auto condition = cell.conditions.find(key);
  return condition == cell.conditions.end() ? cell.varied.at(key)
                                            : ValueText(key, condition->second);
}

std::string WorkloadText(const StudyCell& cell) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : SharedKeys(cell, true)) {
    texts.push_back(cell.conditions.at(name));
  }
  return AfterNoun(std::move(texts));
}

std::string ScenarioText(const StudyCell& cell) {
  return fmt::format("{} {}{}", cell.workers, cell.workers == 1 ? "worker" : "workers",
                     WorkloadText(cell));
}

bool AreComparable(const StudyCell& a, const StudyCell& b) {
  return AreComparableTransports({a.transport, a.medium}, {b.transport, b.medium});
}

std::string TransportsText(const StudyCell& first, const StudyCell& second) {
  if (AreComparable(first, second)) return "";
  return fmt::format("; transports differ: {} against {}", first.transport, second.transport);
}

std::vector<StudyScaling> ScalingOf(const std::vector<StudyCell>& cells) {
  std::map<SeriesKey, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    for (const SeriesKey& key : SeriesOf(cells[i])) groups[key].push_back(i);
  }
  std::vector<StudyScaling> all;
  for (auto& [key, indices] : groups) {
    if (WorkersOf(cells, indices).size() < 2) continue;
    std::ranges::sort(indices, {}, [&](std::size_t index) { return cells[index].workers; });
    const std::string label = LabelOf(key, cells[indices.front()].conditions);
    StudyScaling series{label, std::move(indices), {}, {}, {}, {}};
    Fit(cells, series);
    all.push_back(std::move(series));
  }
  return all;
}

}  // namespace ringside
