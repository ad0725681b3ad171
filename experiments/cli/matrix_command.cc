#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/errors.h"
#include "experiments/bundle.h"
#include "experiments/cli/commands.h"
#include "experiments/cli/exit_codes.h"
#include "experiments/cli/job_flags.h"
#include "experiments/cli/option_set.h"
#include "experiments/matrix/matrix_runner.h"
#include "experiments/units.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

OptionSet MatrixOptionSet() {
  OptionSet options(
      "matrix", "run every combination of a spec file, interleaved and resumable",
      {{"ringside matrix experiments/specs/quickstart.yaml",
        "five strategies with 1, 2 and 4 workers, into results/quickstart"},
       {"ringside matrix SPEC.yaml --dry-run", "the runs, their number and the estimated time"},
       {"ringside matrix SPEC.yaml --resume", "go on where an interrupted matrix ended"}});
  options.TakePositional({"SPEC.yaml", "see docs/matrix-spec.md"});
  options.AddGroup("Runs that have results already");
  options.Add({"resume", "", "skip the finished ones, failed ones included", ""});
  options.Add({"retry-failed", "", "skip those that are done, run the failed ones again", ""});
  options.Add({"force", "", "run all again, replacing their results", ""});
  AddJobFlags(options);
  options.AddGroup("Results");
  options.Add({"out", "DIR", "results lie in DIR/NAME/RUN-ID", "results"});
  options.Add({"dry-run", "", "print the runs and start nothing", ""});
  options.Add({"json", "", "print the tally (or, dry, the runs) as one JSON object on stdout", ""});
  return options;
}

Existing ReadExisting(const ParsedOptions& parsed) {
  const bool resume = parsed.IsOn("resume");
  const bool retry = parsed.IsOn("retry-failed");
  const bool force = parsed.IsOn("force");
  if (force && (resume || retry)) {
    throw UsageError("matrix: --force runs all again; leave --resume and --retry-failed away");
  }
  if (force) return Existing::kForce;
  if (retry) return Existing::kRetryFailed;
  return resume ? Existing::kResume : Existing::kRefuse;
}

// What is there already, as far as the dry run tells.
std::string StateOf(const fs::path& bundle) {
  const auto status = BundleStatus(bundle);
  if (status) return *status;
  return fs::exists(bundle) ? "unfinished" : "new";
}

int DryRun(const std::vector<PlannedRun>& runs, const fs::path& directory, Existing existing,
           bool as_json) {
  std::vector<PlannedRun> wanted;
  nlohmann::json rows = nlohmann::json::array();
  for (const PlannedRun& run : runs) {
    const std::string state = StateOf(directory / run.id);
    const bool selected = ShouldRun(existing, BundleStatus(directory / run.id));
    if (selected) wanted.push_back(run);
    rows.push_back({{"run_id", run.id},
                    {"label", run.label},
                    {"state", state},
                    {"selected", selected},
                    {"spec", run.spec}});
    if (!as_json) {
      fmt::print("{}  {:<12} {:<5} {}\n", run.id, state, selected ? "run" : "skip", run.label);
    }
  }
  const std::optional<double> seconds = EstimateSeconds(wanted, directory);
  if (as_json) {
    const nlohmann::json estimate = seconds ? nlohmann::json(*seconds) : nlohmann::json(nullptr);
    fmt::print("{}\n", nlohmann::json{{"schema", "ringside.matrix-plan/1"},
                                      {"runs", rows},
                                      {"selected", wanted.size()},
                                      {"estimated_s", estimate}}
                           .dump(2));
    return kExitDone;
  }
  fmt::print("{} runs, {} to carry out, estimated time {}\n", runs.size(), wanted.size(),
             seconds ? FormatSeconds(*seconds) : "unknown until a first run is timed");
  return kExitDone;
}

}  // namespace

int RunMatrixCommand(const Arguments& args) {
  const OptionSet options = MatrixOptionSet();
  const ParsedOptions parsed = options.Parse(args);
  if (parsed.help()) {
    fmt::print("{}", options.Help(Painter::For(stdout, parsed.color())));
    return kExitDone;
  }
  const Existing existing = ReadExisting(parsed);
  JobOptions job = ReadJobFlags(parsed, CurrentEnvironment());
  const MatrixSpec spec = ReadMatrixSpec(parsed.positional());
  const std::vector<PlannedRun> runs = PlanMatrix(spec);
  const fs::path directory = fs::path(parsed.Get("out")) / spec.name;
  if (parsed.IsOn("dry-run")) return DryRun(runs, directory, existing, parsed.IsOn("json"));

  // The matrix's own lines would be torn apart by those of every process; logs lie in the bundles.
  job.echo_logs = false;
  // Off a terminal a line per run is enough.
  job.show_progress = job.show_progress && isatty(STDERR_FILENO) == 1;
  const bool quiet = parsed.IsOn("quiet");
  const auto say = [quiet](const std::string& line) {
    if (!quiet) fmt::print(stderr, "{}\n", line);
  };
  say(fmt::format("{}: {} runs into {}", spec.name, runs.size(), directory.string()));
  const MatrixTally tally = RunMatrix(spec, runs, directory, existing, job, RunJob, say);
  say(fmt::format("{} done, {} failed, {} skipped{}; 'ringside report {}' shows them", tally.done,
                  tally.failed, tally.skipped, tally.interrupted ? ", interrupted" : "",
                  directory.string()));
  if (parsed.IsOn("json")) {
    fmt::print("{}\n", nlohmann::json{{"schema", "ringside.matrix/1"},
                                      {"directory", directory.string()},
                                      {"done", tally.done},
                                      {"failed", tally.failed},
                                      {"skipped", tally.skipped},
                                      {"interrupted", tally.interrupted}}
                           .dump(2));
  }
  if (tally.interrupted) return kExitInterrupted;
  return tally.failed > 0 ? kExitFailed : kExitDone;
}

}  // namespace ringside
