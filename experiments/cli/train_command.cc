#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/errors.h"
#include "experiments/bundle.h"
#include "experiments/cli/commands.h"
#include "experiments/cli/exit_codes.h"
#include "experiments/cli/job_flags.h"
#include "experiments/cli/option_set.h"
#include "experiments/cli/spec_options.h"
#include "experiments/cli/summary_text.h"
#include "experiments/job/joined_job.h"
#include "experiments/run_spec.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

OptionSet TrainOptions() {
  OptionSet options(
      "train", "train one model under one strategy, with all its processes on this machine",
      {{"ringside train --strategy ring --workers 4 --model mlp --data digits --epochs 5",
        "a ring of four workers on the built-in digits"},
       {"ringside train --strategy ps-sync --workers 4 --servers 2 --hidden 256,256",
        "two dedicated parameter servers"},
       {"ringside train --model profile:resnet50 --compute-ms 120 --steps 20 --link 1Gbps",
        "emulated compute, real bytes, beside the bound of the declared link"},
       {"mpirun -n 2 ringside train --strategy ring",
        "one rank of a job that another launcher started"}});
  AddSpecOptions(options, {});
  AddJobFlags(options);
  options.AddGroup("Results");
  options.Add({"out", "DIR", "directory of the run's bundle; empty: results/train/RUN-ID", ""});
  options.Add({"force", "", "replace a finished run in that directory", ""});
  options.Add({"json", "", "print the summary as one JSON object on stdout", ""});
  return options;
}

// A rank of a job has its number of workers from the job, unless something says otherwise.
EffectiveSpec ReadTrainSpec(const ParsedOptions& parsed, const Environment& environment,
                            const std::optional<RankEnvironment>& ranks) {
  SpecOptions takes;
  if (ranks) takes.defaults.workers = ranks->workers;
  return ReadSpec(parsed, environment, takes);
}

fs::path BundleDirectory(const ParsedOptions& parsed, const RunSpec& spec) {
  if (!parsed.Get("out").empty()) return parsed.Get("out");
  return fs::path("results") / "train" / RunId(spec);
}

// Only what a run came to is worth protecting: one that ended otherwise is replaced, and that said.
void ClearDirectory(const fs::path& directory, bool force) {
  const std::optional<std::string> status = BundleStatus(directory);
  if (!status) return;
  if (*status == JobStatusName(JobStatus::kDone) && !force) {
    throw UsageError(fmt::format(
        "--out: {} holds a finished run; give --force to replace it, or another directory",
        directory.string()));
  }
  fmt::print(stderr, "replacing the run in {}, which is {}\n", directory.string(), *status);
  fs::remove(directory / kSummaryFile);
}

}  // namespace

int RunTrainCommand(const Arguments& args) {
  const OptionSet options = TrainOptions();
  const ParsedOptions parsed = options.Parse(args);
  if (parsed.help()) {
    fmt::print("{}", options.Help(Painter::For(stdout, parsed.color())));
    return kExitDone;
  }
  const Environment environment = CurrentEnvironment();
  const std::optional<RankEnvironment> ranks = DetectRankEnvironment(environment);
  const EffectiveSpec effective = ReadTrainSpec(parsed, environment, ranks);
  const RunSpec spec = ResolveEffective(effective);
  if (parsed.IsOn("print-config")) {
    fmt::print("{}", PrintConfig(effective, spec));
    return kExitDone;
  }
  JobOptions job = ReadJobFlags(parsed, environment);
  const fs::path directory = BundleDirectory(parsed, spec);
  job.bundle_dir = directory.string();
  const bool reports = !ranks || ranks->hosts();
  if (reports) ClearDirectory(directory, parsed.IsOn("force"));

  JobOutcome outcome;
  try {
    outcome = ranks ? RunJoinedJob(spec, job, *ranks, environment) : RunJob(spec, job);
  } catch (const ConfigError& error) {
    // What was refused came from the flags, there is no file to point at.
    throw UsageError(error.what());
  }
  if (reports) {
    fmt::print(stderr, "{}", SummaryText(outcome, Painter::For(stderr, parsed.color())));
    fmt::print(stderr, "bundle: {}\n", directory.string());
    if (parsed.IsOn("json")) fmt::print("{}\n", outcome.summary.dump(2));
  } else if (outcome.status != JobStatus::kDone) {
    fmt::print(stderr, "ringside: {}\n", outcome.error);
  }
  return ExitCodeOf(outcome);
}

}  // namespace ringside
