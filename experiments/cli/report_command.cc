#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "experiments/cli/commands.h"
#include "experiments/cli/exit_codes.h"
#include "experiments/cli/option_set.h"
#include "experiments/job/files.h"
#include "experiments/report/study_render.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

OptionSet ReportOptions() {
  OptionSet options("report", "tables of a directory of results",
                    {{"ringside report results/quickstart",
                      "the table, and report.csv and report.json beside the results"},
                     {"ringside report results/quickstart --json", "the same for programs"}});
  options.TakePositional({"DIR", "what a matrix wrote, or the bundle of one run"});
  options.AddGroup("Output");
  options.Add({"csv", "FILE", "write the CSV there too", ""});
  options.Add(
      {"json", "", "one JSON object on stdout instead of the table; =FILE writes it there", ""});
  options.Add({"no-files", "", "leave DIR as it is: no report.csv, no report.json", ""});
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
  const StudyTable table = MakeStudyTable(ReadStudy(directory));
  const std::string csv = RenderCsv(table);
  const std::string json = RenderJson(table).dump(2) + "\n";
  if (!parsed.IsOn("no-files")) {
    WriteFileAtomically((directory / "report.csv").string(), csv);
    WriteFileAtomically((directory / "report.json").string(), json);
  }
  if (!parsed.Get("csv").empty()) WriteFileAtomically(parsed.Get("csv"), csv);
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
