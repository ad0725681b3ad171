#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "ringside/experiments/report/study/study_fidelity.h"
#include "ringside/experiments/report/study/study_judgement.h"
#include "ringside/experiments/report/study/study_scaling.h"

namespace ringside {
namespace {

using Places = std::vector<const Finding*>;

constexpr std::size_t kPlacesNamed = 6;
constexpr double kAccuracyWorthSaying = 0.01;

bool SameScenario(const Finding& a, const Finding& b) {
  return a.workers == b.workers && a.varied == b.varied;
}

// One finding per scenario and medium: if there are two, the one among synchronous strategies. A
// finding across transports counts only where its scenario has no other.
Places PlacesOf(const std::vector<Finding>& findings) {
  Places places;
  for (const Finding& finding : findings) {
    const Finding* last = places.empty() ? nullptr : places.back();
    const bool same = last != nullptr && SameScenario(*last, finding);
    if (same && !last->transports_differ && finding.transports_differ) continue;
    if (same && last->medium == finding.medium && last->synchronous_only) continue;
    places.push_back(&finding);
  }
  return places;
}

// The verdict's findings are over several media, or one is across transports.
bool HasSeveralMedia(const Places& places) {
  return std::ranges::any_of(places, [&](const Finding* finding) {
    return finding->medium != places.front()->medium || finding->transports_differ;
  });
}

Places WonBy(const Places& places, std::string_view winner) {
  Places won;
  for (const Finding* finding : places) {
    if (finding->winner == winner) won.push_back(finding);
  }
  return won;
}

std::string Joined(const std::vector<std::string>& words) {
  if (words.size() < 2) return words.empty() ? "" : words.front();
  return fmt::format("{} and {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

std::string OverText(const Finding& finding) {
  if (finding.transports_differ) return " over different transports";
  return finding.medium.empty() ? "" : " over " + finding.medium;
}

std::string Where(const Places& places, bool media) {
  const bool workloads = media || std::ranges::any_of(places, [](const Finding* finding) {
                           return !finding->varied.empty();
                         });
  if (places.size() > kPlacesNamed) return fmt::format("in {} comparisons", places.size());
  std::vector<std::string> words;
  for (const Finding* finding : places) {
    std::string word = std::to_string(finding->workers);
    if (workloads) {
      word += " workers";
      for (const auto& [name, value] : finding->varied) word += fmt::format(" {}={}", name, value);
    }
    if (media) word += OverText(*finding);
    words.push_back(std::move(word));
  }
  return fmt::format("at {}{}", Joined(words), workloads ? "" : " workers");
}

// The ratio from the winner's side.
double Lead(const Finding& finding) {
  const double ratio = finding.ring_over_ps.ratio.value_or(1);
  return ratio >= 1 ? ratio : 1 / ratio;
}

std::string LeadText(const Places& places) {
  double least = Lead(*places.front());
  double most = least;
  for (const Finding* finding : places) {
    least = std::min(least, Lead(*finding));
    most = std::max(most, Lead(*finding));
  }
  const std::string low = fmt::format("{:.2f}x", least);
  const std::string high = fmt::format("{:.2f}x", most);
  return low == high ? low : fmt::format("{} to {}", low, high);
}

std::string WonText(const Places& places, bool media, const char* who, const char* over) {
  return fmt::format("{} faster than {} {} ({})", who, over, Where(places, media),
                     LeadText(places));
}

// The weakest certainty. A scenario in which neither wins is a result of its own and does not
// weaken others.
Certainty WeakestOf(const Places& places) {
  if (places.empty()) return Certainty::kUnclear;
  const bool points = std::ranges::any_of(places, [](const Finding* finding) {
    return finding->certainty == Certainty::kPointEstimateOnly;
  });
  return points ? Certainty::kPointEstimateOnly : Certainty::kClear;
}

const char* CertaintyText(Certainty certainty) {
  switch (certainty) {
    case Certainty::kClear:
      return "sure: every 95 % interval leaves out equality";
    case Certainty::kUnclear:
      return "not sure: the 95 % intervals contain equality";
    case Certainty::kPointEstimateOnly:
      return "points only: with fewer than five runs there is no interval";
  }
  return "";
}

std::string Capitalized(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
  return text;
}

void Judge(const Places& places, StudyVerdict& verdict) {
  const Places ring = WonBy(places, "ring");
  const Places server = WonBy(places, "parameter server");
  const Places neither = WonBy(places, "neither");
  const bool media = HasSeveralMedia(places);
  std::vector<std::string> parts;
  if (!ring.empty()) {
    parts.push_back(WonText(ring, media, "the ring is", "the best parameter server"));
  }
  if (!server.empty()) {
    parts.push_back(WonText(server, media, "the best parameter server is", "the best ring"));
  }
  if (!neither.empty()) {
    parts.push_back(fmt::format("the runs do not tell them apart {}", Where(neither, media)));
  }
  Places won = ring;
  won.insert(won.end(), server.begin(), server.end());
  verdict.certainty = WeakestOf(won);
  if (won.empty()) {
    verdict.winner = "neither";
  } else if (!ring.empty() && !server.empty()) {
    verdict.winner = "depends";
  } else {
    verdict.winner = ring.empty() ? "parameter server" : "ring";
  }
  const char* start = verdict.winner == "depends" ? "It depends: " : "";
  verdict.sentence = Capitalized(
      fmt::format("{}{}; {}.", start, fmt::join(parts, "; "), CertaintyText(verdict.certainty)));
}

std::string AccuracyCaveat(const StudyCell& server, const StudyCell& ring) {
  if (!server.accuracy || !ring.accuracy) return "";
  if (std::abs(*server.accuracy - *ring.accuracy) < kAccuracyWorthSaying) return "";
  return fmt::format("At {} workers {} ends at an accuracy of {:.2f} %, {} at {:.2f} %.",
                     server.workers, StrategyText(server), *server.accuracy * 100,
                     StrategyText(ring), *ring.accuracy * 100);
}

// The machine limited every finished run of the study.
bool IsAllLimited(const StudyTable& table) {
  bool any = false;
  for (const StudyCell& cell : table.cells) {
    if (cell.runs > 0 && !IsAllLimited(cell)) return false;
    any = any || cell.runs > 0;
  }
  return any;
}

// The configurations that take no part because the machine limited all their runs. If those are all
// configurations: what limited them.
std::string LimitedCaveat(const StudyTable& table) {
  if (IsAllLimited(table)) {
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
    names.push_back(fmt::format("{} at {}", StrategyText(cell), ScenarioText(cell)));
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
    first = fmt::format("at {} that of {} is {}, that of {} is {}", ScenarioText(server),
                        StrategyText(server), of_server, StrategyText(ring), of_ring);
  }
  if (pairs == 0) return "";
  return fmt::format("The dilation factors of servers and ring differ in {} comparison{}: {}{}.",
                     pairs, pairs == 1 ? "" : "s", pairs == 1 ? "" : "for instance, ", first);
}

// What the study says about the machine and its clock, with findings or without.
void AddMachineCaveats(const StudyTable& table, std::vector<std::string>& caveats) {
  for (std::string caveat : {LimitedCaveat(table), DilationCaveat(table), FactorCaveat(table)}) {
    if (!caveat.empty()) caveats.push_back(std::move(caveat));
  }
}

// The transports that differ in the verdict's findings, and whether others were left out of it.
std::vector<std::string> TransportCaveats(const StudyTable& table, const Places& places) {
  std::set<std::pair<std::string, std::string>> transports;  // servers', rings'
  for (const Finding* finding : places) {
    if (!finding->transports_differ) continue;
    transports.emplace(table.cells[finding->ps_cell].transport,
                       table.cells[finding->ring_cell].transport);
  }
  std::vector<std::string> caveats;
  for (const auto& [server, ring] : transports) {
    caveats.push_back(fmt::format(
        "Servers over {} are compared with rings over {}: transports differ too.", server, ring));
  }
  const auto counted = [&](const Finding& finding) {
    return std::ranges::any_of(places, [&](const Finding* place) {
      return SameScenario(*place, finding) && place->transports_differ;
    });
  };
  if (std::ranges::any_of(table.findings, [&](const Finding& finding) {
        return finding.transports_differ && !counted(finding);
      })) {
    caveats.emplace_back(
        "The verdict compares servers and rings over the same transport; pairs over different "
        "transports are listed as findings of their own.");
  }
  return caveats;
}

// The differences between the compared cells.
std::vector<std::string> CaveatsOfPairs(const StudyTable& table) {
  std::set<std::string> accuracies;
  int servers = 0;
  for (const Finding& finding : table.findings) {
    const StudyCell& server = table.cells[finding.ps_cell];
    const StudyCell& ring = table.cells[finding.ring_cell];
    if (!server.colocated) servers = std::max(servers, server.servers);
    if (std::string caveat = AccuracyCaveat(server, ring); !caveat.empty()) {
      accuracies.insert(std::move(caveat));
    }
  }
  std::vector<std::string> caveats(accuracies.begin(), accuracies.end());
  if (servers > 0) {
    caveats.push_back(
        fmt::format("Dedicated servers are processes besides the workers: up to {} in these "
                    "comparisons.",
                    servers));
  }
  return caveats;
}

// Why there is no verdict.
std::string NoVerdictText(const StudyTable& table) {
  if (IsAllLimited(table)) {
    return "No verdict: the machine limited every run, so the runs do not show how the strategies "
           "compare.";
  }
  if (HasBothFamilies(table.cells)) {
    return "No verdict: wherever a parameter server and a ring could be compared, the machine "
           "limited every run of one side.";
  }
  return "No verdict: the study has no parameter server and ring with the same number of workers, "
         "more than one, and the same workload.";
}

}  // namespace

StudyVerdict VerdictOf(const StudyTable& table) {
  StudyVerdict verdict;
  if (table.findings.empty()) {
    verdict.winner = "none";
    verdict.sentence = NoVerdictText(table);
    AddMachineCaveats(table, verdict.caveats);
    return verdict;
  }
  const Places places = PlacesOf(table.findings);
  Judge(places, verdict);
  verdict.caveats = CaveatsOfPairs(table);
  std::ranges::move(TransportCaveats(table, places), std::back_inserter(verdict.caveats));
  AddMachineCaveats(table, verdict.caveats);
  if (std::ranges::any_of(table.cells, &StudyCell::emulated_compute)) {
    verdict.caveats.emplace_back("Compute time was emulated; every byte was really sent.");
  }
  if (!table.environment_differences.empty()) {
    verdict.caveats.push_back(fmt::format("Runs had different environments: {}.",
                                          fmt::join(table.environment_differences, ", ")));
  }
  return verdict;
}

}  // namespace ringside
