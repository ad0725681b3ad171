#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/errors.h"
#include "experiments/cli/commands.h"
#include "experiments/cli/exit_codes.h"
#include "experiments/cli/option_set.h"
#include "experiments/job/files.h"
#include "experiments/report/study_render.h"
#include "experiments/units.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

OptionSet ReportOptions() {
  OptionSet options("report", "tables of a directory of results",
                    {{"ringside report results/quickstart",
                      "the table, and report.csv, runs.csv and report.json beside the results"},
                     {"ringside report results/quickstart --json", "the same for programs"}});
  options.TakePositional({"DIR", "what a matrix wrote, or the bundle of one run"});
  options.AddGroup("Output");
  options.Add({"csv", "FILE", "write the raw data there too: a line per run", ""});
  options.Add(
      {"json", "", "one JSON object on stdout instead of the table; =FILE writes it there", ""});
  options.Add(
      {"no-files", "", "leave DIR as it is: no report.csv, no runs.csv, no report.json", ""});
  options.AddGroup("Statistics");
  options.Add({"target-accuracy", "A",
               "what \"time to target\" means: 0.97 or 97% (95 % of the best final accuracy of a "
               "synchronous strategy)",
               ""});
  return options;
}

StudyOptions StudyOptionsOf(const ParsedOptions& parsed) {
  StudyOptions options;
  const std::string& target = parsed.Get("target-accuracy");
  if (target.empty()) return options;
  try {
    options.target_accuracy = ParseFraction(target);
  } catch (const ConfigError& error) {
    throw UsageError(fmt::format("--target-accuracy: {}", error.what()));
  }
  if (*options.target_accuracy <= 0 || *options.target_accuracy > 1) {
    throw UsageError(
        fmt::format("--target-accuracy {}: must be more than 0 and at most 1", target));
  }
  return options;
}

}  // namespace

int RunReportCommand(const Arguments& args) {
  const OptionSet options = ReportOptions();
  const ParsedOptions parsed = options.Parse(args);
  if (parsed.help()) {
    fmt::print("{}", options.Help(Painter::For(stdout, parsed.color())));
    return kExitDone;
  }
  const fs::path directory = parsed.positional();
  const StudyTable table = MakeStudyTable(ReadStudy(directory), StudyOptionsOf(parsed));
  const std::string runs_csv = RenderRunsCsv(table);
  const std::string json = RenderJson(table).dump(2) + "\n";
  if (!parsed.IsOn("no-files")) {
    WriteFileAtomically((directory / "report.csv").string(), RenderCsv(table));
    WriteFileAtomically((directory / "runs.csv").string(), runs_csv);
    WriteFileAtomically((directory / "report.json").string(), json);
  }
  if (!parsed.Get("csv").empty()) WriteFileAtomically(parsed.Get("csv"), runs_csv);
  // "--json" alone prints; "--json=FILE" writes.
  const std::string& json_to = parsed.Get("json");
  if (!json_to.empty() && json_to != "true") WriteFileAtomically(json_to, json);
  fmt::print("{}", json_to == "true" ? json : RenderText(table));
  // A report that misses damaged results is not one of all runs, and a script must notice.
  bool damaged = false;
  for (const BundleProblem& problem : table.problems) {
    fmt::print(stderr, "ringside: left out {}: {}\n", problem.directory, problem.cause);
    damaged = damaged || problem.damaged;
  }
  return damaged ? kExitFailed : kExitDone;
}

}  // namespace ringside
