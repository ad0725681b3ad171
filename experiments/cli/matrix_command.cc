#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/cli/commands.h"
#include "ringside/experiments/cli/exit_codes.h"
#include "ringside/experiments/cli/matrix_view.h"
#include "ringside/experiments/cli/options/job_flags.h"
#include "ringside/experiments/cli/options/option_set.h"
#include "ringside/experiments/job/launcher/run_job.h"
#include "ringside/experiments/lab/emulation_support.h"
#include "ringside/experiments/matrix/estimate.h"
#include "ringside/experiments/matrix/journal.h"
#include "ringside/experiments/matrix/matrix_runner.h"
#include "ringside/experiments/matrix/run_filter.h"
#include "ringside/experiments/spec/bundle.h"
#include "ringside/experiments/spec/resolve/resolve.h"
#include "ringside/experiments/system/files/sudo_ownership_transfer.h"
#include "ringside/experiments/text/printable.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

OptionSet MatrixOptionSet() {
  OptionSet options(
      "matrix", "run every combination of a spec file, interleaved and resumable",
      {{"ringside matrix experiments/specs/quickstart.yaml",
        "five strategies with 1, 2 and 4 workers, into results/quickstart"},
       {"ringside matrix SPEC.yaml --dry-run", "the runs, their number and the estimated time"},
       {"ringside matrix SPEC.yaml --only strategy=ring,workers=4", "some of the runs"},
       {"ringside matrix SPEC.yaml --resume", "go on where an interrupted matrix ended"}});
  options.TakePositional({"SPEC.yaml", "see docs/matrix-spec.md"});
  options.AddGroup("Which runs");
  options.Add({"only", "KEY=VALUE,...",
               "only runs that have all these values; repeat the flag to add others", "", "",
               true});
  options.Add({"keep-going", "",
               "list and leave out combinations that no strategy supports or that cannot run "
               "here (hosts of --launcher are not asked before); run the others",
               ""});
  options.AddGroup("Runs that have results already");
  options.Add({"resume", "", "skip the finished ones, failed ones included", ""});
  options.Add({"retry-failed", "", "skip those that are done, run the failed ones again", ""});
  options.Add({"force", "", "run all again, replacing their results", ""});
  AddJobFlags(options);
  AddRecoveryFlags(options);
  options.AddGroup("Results");
  options.Add({"out", "DIR", "results go to DIR/NAME/RUN-ID", "results"});
  options.Add({"dry-run", "", "print the runs and start nothing", ""});
  options.Add({"json", "", "print the counts (with --dry-run the runs) as one JSON object", ""});
  return options;
}

ExistingRunPolicy ReadExisting(const ParsedOptions& parsed) {
  const bool resume = parsed.IsOn("resume");
  const bool retry = parsed.IsOn("retry-failed");
  const bool force = parsed.IsOn("force");
  if (force && (resume || retry)) {
    throw UsageError("matrix: --force runs all again; omit --resume and --retry-failed");
  }
  if (force) return ExistingRunPolicy::kForce;
  if (retry) return ExistingRunPolicy::kRetryFailed;
  return resume ? ExistingRunPolicy::kResume : ExistingRunPolicy::kRefuse;
}

// The state of an existing bundle, for the dry run.
std::string StateOf(const fs::path& bundle) {
  const auto status = BundleStatus(bundle);
  if (status) return *status;
  return fs::exists(bundle) ? "unfinished" : "new";
}

nlohmann::json RefusedJson(const std::vector<RefusedRun>& refused) {
  nlohmann::json rows = nlohmann::json::array();
  for (const RefusedRun& run : refused)
    rows.push_back({{"label", run.label}, {"reason", run.reason}});
  return rows;
}

nlohmann::json EstimateJson(const Estimate& estimate) {
  return {{"seconds", estimate.seconds},
          {"timed", estimate.timed},
          {"calculated", estimate.calculated},
          {"unknown", estimate.unknown}};
}

int DryRun(const MatrixPlan& plan, const fs::path& directory, ExistingRunPolicy existing,
           bool as_json) {
  const std::vector<PlannedRun>& runs = plan.runs;
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
      PrintText(stdout, "{}  {:<12} {:<5} {}\n", run.id, state, selected ? "run" : "skip",
                run.label);
    }
  }
  const Estimate estimate = EstimateTime(wanted, Journal(directory).Read());
  if (as_json) {
    fmt::print("{}\n", nlohmann::json{{"schema", "ringside.matrix-plan/1"},
                                      {"runs", rows},
                                      {"refused", RefusedJson(plan.refused)},
                                      {"selected", wanted.size()},
                                      {"estimated_s", estimate.seconds},
                                      {"estimate", EstimateJson(estimate)}}
                           .dump(2));
    return kExitDone;
  }
  fmt::print("{} runs, {} to carry out, estimated time {}\n", runs.size(), wanted.size(),
             estimate.Text());
  return kExitDone;
}

/// Why a network cannot be emulated here, by what it needs: netem, and a congestion control.
using Reasons = std::map<std::pair<bool, std::string>, std::string>;

/// Throws for a run whose network this machine cannot emulate. `reasons` keeps the answers. Call it
/// while this process has only one thread.
void RequireNetwork(const RunSpec& run, Reasons& reasons) {
  if (!run.network) return;
  const auto [reason, is_new] =
      reasons.try_emplace({run.network->needs_netem(), run.network->congestion});
  if (is_new) reason->second = WhyNoLab(*run.network);
  if (!reason->second.empty()) throw MissingKeyError("network", reason->second);
}

MatrixPlan ReadPlan(const MatrixSpec& spec, const ParsedOptions& parsed) {
  const RunFilter only(parsed.GetAll("only"), *spec.catalog);
  Reasons reasons;
  const bool starts = !parsed.IsOn("dry-run");
  const RunsOn where = WhereProcessesRun(parsed);
  const auto require = [&](const RunSpec& run) {
    if (starts && only.Fits(run)) RequireNetwork(run, reasons);
  };
  MatrixPlan plan;
  if (parsed.IsOn("keep-going")) {
    plan = PlanSupportedRuns(spec, require, where);
  } else {
    plan.runs = PlanMatrix(spec, require, where);
  }
  const std::size_t all = plan.runs.size();
  std::erase_if(plan.runs, [&](const PlannedRun& run) { return !only.Fits(run.spec); });
  if (plan.runs.empty()) {
    throw UsageError(fmt::format("--only: none of the {} runs fits; --dry-run lists them", all));
  }
  return plan;
}

void TellRefused(const std::vector<RefusedRun>& refused) {
  for (const RefusedRun& run : refused) {
    PrintText(stderr, "left out {}: {}\n", run.label, run.reason);
  }
}

}  // namespace

int RunMatrixCommand(const Arguments& args, const Catalog& catalog) {
  const OptionSet options = MatrixOptionSet();
  const ParsedOptions parsed = options.Parse(args);
  if (parsed.help()) {
    fmt::print("{}", options.Help(Painter::For(stdout, parsed.color())));
    return kExitDone;
  }
  const ExistingRunPolicy existing = ReadExisting(parsed);
  JobOptions job = ReadJobFlags(parsed, CurrentEnvironment());
  const MatrixSpec spec = ReadMatrixSpec(parsed.positional(), catalog);
  const MatrixPlan plan = ReadPlan(spec, parsed);
  const fs::path directory = fs::path(parsed.Get("out")) / spec.name;
  TellRefused(plan.refused);
  if (parsed.IsOn("dry-run")) return DryRun(plan, directory, existing, parsed.IsOn("json"));

  const SudoOwnershipTransfer ownership(directory, CurrentEnvironment());
  // Log lines of all processes would break up the lines of the matrix. The bundles contain the
  // logs.
  job.echo_logs = false;
  MatrixView view(plan, directory, parsed.IsOn("quiet"));
  job.console = &view.console();
  view.ShowLine(
      fmt::format("{}: {} runs into {}", spec.name, plan.runs.size(), directory.string()));
  const MatrixRunCounts tally = RunMatrix(spec, plan.runs, directory, existing, job, RunJob, view);
  view.ShowLine(fmt::format(
      "{} done{}, {} failed, {} skipped{}; 'ringside report {}' shows them", tally.done,
      tally.limited > 0 ? fmt::format(" ({} limited by the machine or not judged)", tally.limited)
                        : "",
      tally.failed, tally.skipped, tally.interrupted ? ", interrupted" : "", directory.string()));
  if (parsed.IsOn("json")) {
    fmt::print("{}\n", nlohmann::json{{"schema", "ringside.matrix/1"},
                                      {"directory", directory.string()},
                                      {"done", tally.done},
                                      {"limited", tally.limited},
                                      {"failed", tally.failed},
                                      {"skipped", tally.skipped},
                                      {"retried", tally.retried},
                                      {"refused", RefusedJson(plan.refused)},
                                      {"interrupted", tally.interrupted}}
                           .dump(2));
  }
  if (tally.interrupted) return kExitInterrupted;
  return tally.failed > 0 ? kExitFailed : kExitDone;
}

}  // namespace ringside
