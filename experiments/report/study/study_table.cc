#include "ringside/experiments/report/study/study_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "ringside/experiments/report/cells/study_cells.h"
#include "ringside/experiments/report/cells/study_constants.h"
#include "ringside/experiments/report/cells/study_environments.h"
#include "ringside/experiments/report/cells/study_scaling.h"
#include "ringside/experiments/report/cells/study_target.h"
#include "ringside/experiments/report/runs/study_runs.h"
#include "ringside/experiments/report/study/study_judgement.h"
#include "ringside/experiments/text/value_order.h"

namespace ringside {
namespace {

using nlohmann::json;

using Group = std::vector<const RunResult*>;

auto OrderOf(const StudyCell& cell) {
  std::map<std::string, ValueOrder> varied;
  for (const auto& [key, value] : cell.varied) varied.emplace(key, ValueOrderOf(value));
  return std::tuple(std::move(varied), cell.place_in_catalog, cell.strategy, cell.workers,
                    cell.colocated, cell.servers, cell.transport);
}

std::string Label(const RunSpec& spec) {
  const auto counted = [](int count, const char* noun) {
    return fmt::format(", {} {}{}", count, noun, count == 1 ? "" : "s");
  };
  std::string label = spec.strategy + counted(spec.workers, "worker");
  if (spec.servers > 0) label += counted(spec.servers, "server");
  if (spec.repetition > 0) label += fmt::format(", repetition {}", spec.repetition);
  return label;
}

// The runs of each configuration.
std::vector<Group> GroupRuns(const std::vector<RunResult>& runs) {
  std::map<std::string, Group> groups;
  for (const RunResult& run : runs) groups[ConfigurationOf(run.spec)].push_back(&run);
  std::vector<Group> all;
  for (auto& [configuration, group] : groups) all.push_back(std::move(group));
  return all;
}

std::string TextAt(const json& object, const char* key) {
  if (!object.is_object()) return "";
  const json value = object.value(key, json());
  return value.is_string() ? value.get<std::string>() : "";
}

/// Empty if there is none: summaries of older versions lack some.
json ListAt(const json& object, const char* key) {
  const json list = object.is_object() ? object.value(key, json()) : json();
  return list.is_array() ? list : json::array();
}

// "worker 1 computes step 17 for 3.2 s; worker 0 waits for ..."
std::string LastWordsOf(const json& object) {
  std::vector<std::string> texts;
  for (const json& worker : ListAt(object, "last_words")) {
    if (std::string text = TextAt(worker, "text"); !text.empty()) texts.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

void AddFailed(const std::vector<RunResult>& runs, StudyTable& table) {
  for (const RunResult& run : runs) {
    const auto status = run.summary["status"].get<std::string>();
    if (status == "done") continue;
    table.failed.push_back({.directory = run.directory,
                            .label = Label(run.spec),
                            .status = status,
                            .error = TextAt(run.summary, "error"),
                            .kind = TextAt(run.summary.value("failure", json()), "kind"),
                            .last_words = LastWordsOf(run.summary)});
  }
}

std::vector<RunIncident> IncidentsOf(const RunResult& run) {
  std::vector<RunIncident> incidents;
  const auto add = [&](std::string text, std::string last_words = "") {
    incidents.push_back({.directory = run.directory,
                         .label = Label(run.spec),
                         .text = std::move(text),
                         .last_words = std::move(last_words)});
  };
  int generation = 0;
  for (const json& failed : ListAt(run.summary, "failed_generations")) {
    add(fmt::format("generation {} failed: {}", generation++, TextAt(failed, "error")),
        LastWordsOf(failed));
  }
  for (const json& lost : ListAt(run.summary, "lost_workers")) {
    add("the run went on without a worker: " + TextAt(lost, "reason"), LastWordsOf(lost));
  }
  for (const json& warning : ListAt(run.summary, "warnings")) {
    if (warning.is_string()) add(warning.get<std::string>());
  }
  return incidents;
}

void AddIncidents(const std::vector<RunResult>& runs, StudyTable& table) {
  for (const RunResult& run : runs) {
    std::ranges::move(IncidentsOf(run), std::back_inserter(table.incidents));
  }
}

void AddCells(const StudyInput& input, const std::vector<Group>& groups, StudyTable& table) {
  const std::vector<const SpecKey*> varied = VariedKeys(input.runs);
  for (const SpecKey* key : varied) table.varied_keys.emplace_back(key->json_name);
  MedianBootstrap bootstrap;
  for (const Group& group : groups) {
    std::vector<StudyRun> runs;
    for (const RunResult* result : group) {
      StudyRun run = MakeStudyRun(*result, table.target.accuracy);
      run.environment = IndexOfEnvironment(result->environment, table.environments);
      runs.push_back(std::move(run));
    }
    table.cells.push_back(MakeCell(group, std::move(runs), varied, bootstrap));
  }
  AddSpeedups(table.cells);
  std::ranges::sort(table.cells, {}, OrderOf);
}

bool Travels(const StudyCell& cell) { return !cell.transport.empty(); }

}  // namespace

bool HasTransports(const StudyTable& table) { return std::ranges::any_of(table.cells, Travels); }

bool MixesTransports(const StudyTable& table) {
  const auto first = std::ranges::find_if(table.cells, Travels);
  return std::any_of(first, table.cells.end(),
                     [&](const StudyCell& cell) { return !AreComparable(cell, *first); });
}

StudyTable MakeStudyTable(const StudyInput& input, const StudyOptions& options) {
  StudyTable table;
  table.name = input.name;
  table.problems = input.problems;
  if (input.runs.empty()) return table;
  const std::vector<Group> groups = GroupRuns(input.runs);
  table.target = ChooseTarget(groups, options);
  table.constants = ConstantsOf(input.runs);
  AddFailed(input.runs, table);
  AddIncidents(input.runs, table);
  AddCells(input, groups, table);
  table.environment_differences = EnvironmentDifferences(table.environments);
  table.scaling = ScalingOf(table.cells);
  table.findings = FindingsOf(table.cells);
  table.claims = ClaimsOf(table.cells);
  table.pairs = BaselineComparisonsOf(table.cells);
  table.carriers = CarrierComparisonsOf(table.cells);
  table.dilation = DilationOf(table.cells);
  table.verdict = VerdictOf(table);
  table.method = MethodOf(table);
  return table;
}

}  // namespace ringside
