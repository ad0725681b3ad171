#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "ringside/experiments/report/cells/bound_explanation.h"
#include "ringside/experiments/report/cells/study_fidelity.h"
#include "ringside/experiments/report/cells/study_scaling.h"
#include "ringside/experiments/report/study/study_judgement.h"

namespace ringside {
namespace {

using Judged = std::vector<const Finding*>;

constexpr std::size_t kPlacesNamed = 6;
constexpr double kAccuracyWorthSaying = 0.01;

std::string AccuracyCaveat(const StudyCell& server, const StudyCell& ring) {
  if (!server.accuracy || !ring.accuracy) return "";
  if (std::abs(*server.accuracy - *ring.accuracy) < kAccuracyWorthSaying) return "";
  return fmt::format("With {}, {} ends at an accuracy of {:.2f} %, {} at {:.2f} %.",
                     ScenarioText(server), StrategyText(server), *server.accuracy * 100,
                     StrategyText(ring), *ring.accuracy * 100);
}

// The configurations that take no part because the machine limited all their runs. If those are all
// configurations: what limited them.
std::string LimitedCaveat(const StudyTable& table) {
  if (LimitedEveryRun(table.cells)) {
    std::vector<const StudyRun*> runs;
    for (const StudyCell& cell : table.cells) {
      for (const StudyRun* run : CountedRuns(cell)) runs.push_back(run);
    }
    const std::string limits = LimitsText(runs);
    return limits.empty() ? "" : fmt::format("What limited the runs: {}.", limits);
  }
  std::vector<std::string> names;
  for (const StudyCell& cell : table.cells) {
    if (!IsAllLimited(cell)) continue;
    names.push_back(fmt::format("{}, {}", StrategyText(cell), ScenarioText(cell)));
  }
  if (names.empty()) return "";
  const bool one = names.size() == 1;
  std::string text =
      fmt::format("The machine limited every run of {} configuration{}, which {} no part",
                  names.size(), one ? "" : "s", one ? "takes" : "take");
  const std::size_t more = names.size() - std::min(names.size(), kPlacesNamed);
  names.resize(names.size() - more);
  text += fmt::format(": {}", fmt::join(names, "; "));
  return text + (more > 0 ? fmt::format("; and {} more.", more) : ".");
}

std::string DilationCaveat(const StudyTable& table) {
  if (!HasDilation(table.cells)) return "";
  const std::vector<DilationRow>& rows = table.dilation.rows;
  const std::string low = fmt::format("{:g}", rows.front().factor);
  const std::string high = fmt::format("{:g}", rows.back().factor);
  return fmt::format("Times are in dilated time: one second of it is {} seconds of the machine.",
                     low == high ? low : fmt::format("{} to {}", low, high));
}

// In how many pairs the clocks went at different speeds, with the first of them.
std::string FactorCaveat(const StudyTable& table) {
  int pairs = 0;
  std::string first;
  for (const Finding& finding : table.findings) {
    const StudyCell& server = table.cells[finding.ps_cell];
    const StudyCell& ring = table.cells[finding.ring_cell];
    const std::string of_server = DilationText(server);
    const std::string of_ring = DilationText(ring);
    if (of_server == of_ring || of_server.empty() || of_ring.empty()) continue;
    if (pairs++ > 0) continue;
    first = fmt::format("with {} that of {} is {}, that of {} is {}", ScenarioText(server),
                        StrategyText(server), of_server, StrategyText(ring), of_ring);
  }
  if (pairs == 0) return "";
  return fmt::format("The dilation factors of servers and ring differ in {} comparison{}: {}{}.",
                     pairs, pairs == 1 ? "" : "s", pairs == 1 ? "" : "for instance, ", first);
}

// Runs that went on without a worker trained fewer samples than the others.
std::string LostWorkersCaveat(const StudyTable& table) {
  std::vector<std::string> runs;
  for (const StudyCell& cell : table.cells) {
    for (const StudyRun* run : CountedRuns(cell)) {
      if (run->lost_workers.empty()) continue;
      const bool one = run->lost_workers.size() == 1;
      runs.push_back(fmt::format("{} without worker{} {}", run->directory, one ? "" : "s",
                                 fmt::join(run->lost_workers, ", ")));
    }
  }
  if (runs.empty()) return "";
  const std::size_t more = runs.size() - std::min(runs.size(), kPlacesNamed);
  std::string text =
      fmt::format("{} run{} went on without a lost worker, and so with fewer samples", runs.size(),
                  runs.size() == 1 ? "" : "s");
  runs.resize(runs.size() - more);
  text += fmt::format(": {}", fmt::join(runs, "; "));
  return text + (more > 0 ? fmt::format("; and {} more.", more) : ".");
}

// On one host without an emulated network nothing else judges whether the machine was a limit.
std::string BusyCaveat(const StudyTable& table) {
  std::vector<double> busy;
  for (const StudyCell& cell : table.cells) {
    const bool judged = std::ranges::any_of(
        cell.results, [](const StudyRun& run) { return run.fidelity.has_value(); });
    const double share = cell.cores_busy.value_or(0);
    if (!judged && share >= kCoresBusy) busy.push_back(share);
  }
  if (busy.empty()) return "";
  const auto [least, most] = std::ranges::minmax(busy);
  const std::string low = fmt::format("{:.0f}", least * 100);
  const std::string high = fmt::format("{:.0f}", most * 100);
  return fmt::format(
      "In {} of {} configurations the machine's cores were {} % busy. There the processor is a "
      "limit, too: all processes compete for it.",
      busy.size(), table.cells.size(), low == high ? low : fmt::format("{} to {}", low, high));
}

// Dedicated servers without hosts of their own share the machine with the workers.
void AddServers(const StudyTable& table, std::vector<std::string>& caveats) {
  int servers = 0;
  for (const Finding& finding : table.findings) {
    const StudyCell& cell = table.cells[finding.ps_cell];
    if (!cell.colocated && cell.server_hosts == 0) servers = std::max(servers, cell.servers);
  }
  if (servers == 0) return;
  caveats.push_back(
      fmt::format("Dedicated servers are processes besides the workers: up to {} in these "
                  "comparisons.",
                  servers));
}

void AddAccuracies(const StudyTable& table, std::vector<std::string>& caveats) {
  std::set<std::string> accuracies;
  for (const Finding& finding : table.findings) {
    std::string caveat =
        AccuracyCaveat(table.cells[finding.ps_cell], table.cells[finding.ring_cell]);
    if (!caveat.empty()) accuracies.insert(std::move(caveat));
  }
  caveats.insert(caveats.end(), accuracies.begin(), accuracies.end());
}

// The transports that differ in the verdict's findings, and whether others were left out of it.
void AddTransports(const StudyTable& table, const Judged& judged,
                   std::vector<std::string>& caveats) {
  std::set<std::pair<std::string, std::string>> transports;  // servers', rings'
  for (const Finding* finding : judged) {
    if (!finding->transports_differ) continue;
    transports.emplace(table.cells[finding->ps_cell].transport,
                       table.cells[finding->ring_cell].transport);
  }
  for (const auto& [server, ring] : transports) {
    caveats.push_back(fmt::format(
        "Servers over {} are compared with rings over {}: transports differ too.", server, ring));
  }
  const auto left_out = [&](const Finding& finding) {
    return finding.transports_differ && std::ranges::none_of(judged, [&](const Finding* other) {
             return other->transports_differ && other->workers == finding.workers &&
                    other->varied == finding.varied;
           });
  };
  if (std::ranges::any_of(table.findings, left_out)) {
    caveats.emplace_back(
        "The verdict compares servers and rings over the same transport; pairs over different "
        "transports are listed as findings of their own.");
  }
}

}  // namespace

std::vector<std::string> CaveatsOf(const StudyTable& table, const Judged& judged) {
  std::vector<std::string> caveats;
  AddAccuracies(table, caveats);
  AddServers(table, caveats);
  AddTransports(table, judged, caveats);
  for (std::string caveat : {LimitedCaveat(table), BusyCaveat(table), LostWorkersCaveat(table),
                             DilationCaveat(table), FactorCaveat(table)}) {
    if (!caveat.empty()) caveats.push_back(std::move(caveat));
  }
  if (table.findings.empty()) return caveats;
  if (std::ranges::any_of(table.cells, &StudyCell::emulated_compute)) {
    caveats.emplace_back("Compute time was emulated; every byte was really sent.");
  }
  if (!table.environment_differences.empty()) {
    caveats.push_back(fmt::format("Runs had different environments: {}.",
                                  fmt::join(table.environment_differences, ", ")));
  }
  return caveats;
}

}  // namespace ringside
