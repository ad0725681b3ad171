#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/checkpoint/checkpoint_folder.h"
#include "ringside/experiments/cli/commands.h"
#include "ringside/experiments/cli/exit_codes.h"
#include "ringside/experiments/cli/options/job_flags.h"
#include "ringside/experiments/cli/options/option_set.h"
#include "ringside/experiments/cli/options/spec_options.h"
#include "ringside/experiments/cli/summary_text.h"
#include "ringside/experiments/job/launcher/externally_launched_rank.h"
#include "ringside/experiments/job/launcher/run_job.h"
#include "ringside/experiments/spec/bundle.h"
#include "ringside/experiments/spec/resolve/resolve.h"
#include "ringside/experiments/spec/run_spec.h"
#include "ringside/experiments/system/files/sudo_ownership_transfer.h"
#include "ringside/experiments/system/files/trusted_path.h"
#include "ringside/experiments/system/output/console.h"
#include "ringside/experiments/text/printable.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

OptionSet TrainOptions(const Catalog& catalog) {
  OptionSet options(
      "train", "train one model under one strategy, with all its processes",
      {{"ringside train --strategy ring --workers 4 --model mlp --data digits --epochs 5",
        "a ring of four workers on the built-in digits"},
       {"ringside train --strategy ps-sync --workers 4 --servers 2 --hidden 256,256",
        "two dedicated parameter servers"},
       {"ringside train --model profile:resnet50 --compute-ms 120 --steps 20 --link 1Gbps",
        "emulated compute, real bytes, and the bound of the declared link"},
       {"ringside train --from results/quickstart/RUN-ID", "a run again, from its bundle"},
       {"ringside train --strategy ps-sync --workers 2 -- python3 train.py --epochs 3",
        "a program of your own as the model, in every worker; it uses the Python package ringside"},
       {"mpirun -n 2 ringside train --strategy ring",
        "one rank of a job that another launcher started"},
       {"ringside train --hostfile hosts.txt --workers 8 --strategy ring --tls certs",
        "workers on other hosts, by ssh (docs/clusters.md)"}});
  options.TakeRest({"COMMAND", "the program that every worker runs as its model (--program)"});
  AddSpecOptions(options, {.defaults = RunSpec(catalog)});
  AddJobFlags(options);
  AddRecoveryFlags(options);
  options.AddGroup("Results");
  options.Add({"out", "DIR", "directory of the run's bundle; empty: results/train/RUN-ID", ""});
  options.Add({"from", "BUNDLE",
               "run what a bundle ran (its directory, or its spec.json); flags override its values",
               ""});
  options.Add({"force", "", "replace a finished run in that directory", ""});
  options.Add({"json", "", "print the summary as one JSON object on stdout", ""});
  return options;
}

// A rank takes the number of workers from its job, unless a flag, variable or file sets the number.
EffectiveSpec ReadTrainSpec(const Catalog& catalog, const ParsedOptions& parsed,
                            const Environment& environment,
                            const std::optional<RankEnvironment>& ranks,
                            const std::optional<BundleSource>& from) {
  SpecOptions takes{.defaults = RunSpec(catalog)};
  if (from) takes.file = from->spec_file.string();
  if (ranks) takes.defaults.workers = ranks->workers;
  return ReadSpec(parsed, environment, takes);
}

fs::path BundleDirectory(const ParsedOptions& parsed, const RunSpec& spec) {
  if (!parsed.Get("out").empty()) return parsed.Get("out");
  fs::path directory = fs::path("results") / "train" / RunId(spec);
  if (parsed.Get("from").empty() || parsed.IsOn("force")) return directory;
  // This directory may contain the bundle that is to be run again.
  fs::path free = directory;
  for (int count = 2; BundleStatus(free) == JobStatusName(JobStatus::kDone); ++count) {
    free = fmt::format("{}.{}", directory.string(), count);
  }
  return free;
}

std::optional<BundleSource> ReadFrom(const ParsedOptions& parsed, const Catalog& catalog) {
  if (parsed.Get("from").empty()) return std::nullopt;
  if (parsed.Has("config")) {
    throw UsageError("--from: the bundle is the configuration; omit --config");
  }
  return ReadBundleSource(parsed.Get("from"), catalog);
}

// Refuses to replace a done run, or one that could be resumed, without `force`. Replaces a run that
// ended otherwise, and says so.
void ClearDirectory(const fs::path& directory, const RunSpec& spec, bool force) {
  RefuseNewerBundle(directory);
  const std::optional<std::string> status = BundleStatus(directory);
  const bool done = status == JobStatusName(JobStatus::kDone);
  if (!done && !force && !ResumesWithin(directory.string(), spec.resume) &&
      !FindCheckpointFolder((directory / "checkpoints").string()).empty()) {
    throw UsageError(fmt::format(
        "--out: {0} holds checkpoints of a run that is not done; --resume {0} goes on from them, "
        "--force replaces them",
        directory.string()));
  }
  if (!status) return;
  if (done && !force) {
    throw UsageError(fmt::format(
        "--out: {} holds a finished run; give --force to replace it, or another directory",
        directory.string()));
  }
  PrintText(stderr, "replacing the run in {}, which is {}\n", directory.string(), *status);
  RemoveFile((directory / kSummaryFile).string());
}

/// The result waits until somebody reads it: a pager may take its time, and any signal then ends
/// this process. After a signal or a time limit it does not wait for long, because that asked for
/// the end.
void PrintResult(const std::string& text, JobStatus status) {
  constexpr std::chrono::seconds kPatience{3};
  if (status == JobStatus::kInterrupted || status == JobStatus::kTimedOut) {
    static_cast<void>(WriteWithin(STDERR_FILENO, text, kPatience));  // the bundle has it, too
  } else {
    fmt::print(stderr, "{}", text);
  }
}

}  // namespace

int RunTrainCommand(const Arguments& args, const Catalog& catalog) {
  const OptionSet options = TrainOptions(catalog);
  const ParsedOptions parsed = options.Parse(args);
  if (parsed.help()) {
    fmt::print("{}", options.Help(Painter::For(stdout, parsed.color())));
    return kExitDone;
  }
  const Environment environment = CurrentEnvironment();
  const std::optional<RankEnvironment> ranks = DetectRankEnvironment(environment);
  const std::optional<BundleSource> from = ReadFrom(parsed, catalog);
  const EffectiveSpec effective = ReadTrainSpec(catalog, parsed, environment, ranks, from);
  const RunsOn where = WhereProcessesRun(parsed);
  const RunSpec spec = ResolveEffective(
      effective, [where](RunSpec read) { return Resolve(std::move(read), where); });
  if (parsed.IsOn("print-config")) {
    PrintText(stdout, "{}", PrintConfig(effective, spec));
    return kExitDone;
  }
  JobOptions job = ReadJobFlags(parsed, environment);
  if (ranks) RequireOwnLauncher(job);
  if (ranks && job.recovery.on_failure != OnFailure::kStop) {
    throw UsageError(
        "--on-failure: another launcher started this rank, so only that one can restart it");
  }
  if (from) job.origin.rerun_of = from->run_id;
  const fs::path directory = BundleDirectory(parsed, spec);
  job.bundle_dir = directory.string();
  const bool reports = !ranks || ranks->hosts();
  const SudoOwnershipTransfer ownership(directory, environment);
  if (reports) ClearDirectory(directory, spec, parsed.IsOn("force"));

  JobOutcome outcome;
  try {
    outcome = ranks ? RunExternallyLaunchedRank(spec, job, *ranks, environment) : RunJob(spec, job);
  } catch (const ConfigError& error) {
    // The bad value came from the flags, so there is no line of a file to name.
    throw UsageError(error.what());
  }
  if (reports) {
    PrintResult(
        fmt::format("{}bundle: {}\n", SummaryText(outcome, Painter::For(stderr, parsed.color())),
                    Printable(directory.string())),
        outcome.status);
    if (parsed.IsOn("json")) fmt::print("{}\n", outcome.summary.dump(2));
  } else if (outcome.status != JobStatus::kDone) {
    PrintResult(fmt::format("ringside: {}\n", Printable(outcome.error)), outcome.status);
  }
  return ExitCodeOf(outcome, effective.file);
}

}  // namespace ringside
