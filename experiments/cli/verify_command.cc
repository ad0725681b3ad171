#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/cli/commands.h"
#include "ringside/experiments/cli/exit_codes.h"
#include "ringside/experiments/cli/options/job_flags.h"
#include "ringside/experiments/cli/options/option_set.h"
#include "ringside/experiments/cli/options/spec_options.h"
#include "ringside/experiments/cli/work_directory.h"
#include "ringside/experiments/job/launcher/run_job.h"
#include "ringside/experiments/report/render/text_table.h"
#include "ringside/experiments/spec/resolve/availability.h"
#include "ringside/experiments/system/files/sudo_ownership_transfer.h"
#include "ringside/experiments/text/printable.h"
#include "ringside/experiments/text/units.h"
#include "ringside/experiments/verify/verify_runner.h"

namespace ringside {
namespace {

SpecOptions VerifySpecOptions(const Catalog& catalog) {
  SpecOptions takes{.defaults = RunSpec(catalog)};
  takes.without = {"strategy",  "workers",        "servers",           "optimizer",
                   "resume",    "save-params",    "batch-per-worker",  "eval-every",
                   "timeline",  "epochs",         "scale-lr",          "checkpoint-every",
                   "straggler", "timeline-steps", "timeline-filename", "keep"};
  takes.defaults.steps = 50;
  // With it, the error of a ReLU that rounding flips stays below the limit (docs/decisions/0006).
  takes.defaults.learning_rate = 0.002;
  takes.defaults.optimizer.momentum = 0.9;
  return takes;
}

OptionSet VerifyOptionSet(const Catalog& catalog) {
  OptionSet options(
      "verify", "check that synchronous strategies compute what a single worker computes",
      {{"ringside verify --model mlp --data digits --steps 50",
        "every synchronous strategy, 1 to 4 workers, 1 to 3 servers, SGD and Adam"},
       {"ringside verify --strategies ps-sync --workers 2 --servers 1,2 --optimizers sgd",
        "only these"},
       {"ringside verify --workers 2 --steps 20 -- python3 train.py",
        "a program of your own, which divides each batch among its workers"}});
  options.TakeRest({"COMMAND", "the program that every worker runs as its model (--program)"});
  options.AddGroup("What is compared");
  options.Add({"strategies", "NAME,...", "synchronous strategies",
               fmt::format("{}", fmt::join(SynchronousStrategies(catalog), ","))});
  options.Add({"workers", "N,N,...", "numbers of workers", "1,2,3,4"});
  options.Add({"servers", "N,N,...", "numbers of servers, where a strategy has some", "1,2,3"});
  options.Add({"optimizers", "NAME,...", "sgd, adam, adamw", "sgd,adam"});
  options.Add({"adam-lr", "X", "learning rate of adam and adamw", "0.001"});
  options.Add(
      {"limit", "X",
       "sgd: largest difference, L2 norm over the norm of the parameters; meant for small rates "
       "(--lr 0.002): at large ones a ReLU flipped by rounding exceeds it (docs/decisions/0006)",
       "1e-5"});
  options.Add({"adam-limit", "X", "adam, adamw: the same", "1e-4"});
  options.Add({"repeat", "WHICH", "run twice and compare the bits: none, one (per strategy) or all",
               "one"});
  AddSpecOptions(options, VerifySpecOptions(catalog));
  AddJobFlags(options);
  options.AddGroup("Results");
  options.Add({"out", "DIR", "keep the bundles there; empty: a temporary directory", ""});
  options.Add({"json", "", "one JSON object on stdout", ""});
  return options;
}

RepeatPolicy ParseRepeats(const std::string& text) {
  if (text == "none") return RepeatPolicy::kNone;
  if (text == "one") return RepeatPolicy::kOnePerStrategy;
  if (text == "all") return RepeatPolicy::kAll;
  throw ConfigError("'" + text + "' is unknown; it must be none, one or all");
}

// Parses a list of at least one number. Every number must be at least 1.
std::vector<int> ParseCounts(const std::string& text) {
  std::vector<int> counts = ParseIntegerList(text);
  if (counts.empty() || std::ranges::min(counts) < 1) {
    throw ConfigError("'" + text + "' is no list of numbers of at least 1");
  }
  return counts;
}

// Removes strategies that this machine cannot run, and prints which. Not used for a list that a
// user gave.
void DropUnavailable(const Catalog& catalog, std::vector<std::string>& strategies) {
  std::erase_if(strategies, [&](const std::string& name) {
    const StrategyEntry* entry = catalog.FindStrategy(name);
    const std::string reason = entry == nullptr ? "" : WhyUnavailable(*entry);
    if (!reason.empty()) PrintText(stderr, "skipped: {}: {}\n", name, reason);
    return !reason.empty();
  });
}

VerifyRequest ReadRequest(const ParsedOptions& parsed, const EffectiveSpec& effective) {
  VerifyRequest request;
  request.base = effective.spec;
  request.strategies = ReadFlag(parsed, "strategies", ParseWordList);
  if (!parsed.Has("strategies")) DropUnavailable(request.base.catalog(), request.strategies);
  request.optimizers = ReadFlag(parsed, "optimizers", ParseWordList);
  request.workers = ReadFlag(parsed, "workers", ParseCounts);
  request.servers = ReadFlag(parsed, "servers", ParseCounts);
  request.adam_learning_rate = ReadFlag(parsed, "adam-lr", ParseReal);
  request.sgd_limit = ReadFlag(parsed, "limit", ParseReal);
  request.adam_limit = ReadFlag(parsed, "adam-limit", ParseReal);
  request.repeats = ReadFlag(parsed, "repeat", ParseRepeats);
  request.where = WhereProcessesRun(parsed);
  return request;
}

std::vector<VerifyGroup> PlanOrRefuse(const VerifyRequest& request) {
  try {
    return PlanVerification(request);
  } catch (const SpecKeyError& error) {
    const std::string flag = error.key() == "optimizer" ? "optimizers" : error.key();
    throw UsageError("--" + flag + ": " + error.reason());
  }
}

std::string SameTwice(const VerifyRow& row) {
  if (!row.same_twice) return "-";
  return *row.same_twice ? "yes" : "no";
}

std::string RenderTable(const VerifyResult& result) {
  using Align = TextTable::Align;
  TextTable table({{"optimizer", Align::kLeft},
                   {"strategy", Align::kLeft},
                   {"workers"},
                   {"servers"},
                   {"rate"},
                   {"difference"},
                   {"limit"},
                   {"bits the\nsame twice"},
                   {"", Align::kLeft}});
  for (const VerifyRow& row : result.rows) {
    table.AddRow({row.optimizer, row.spec.strategy, std::to_string(row.spec.workers),
                  row.spec.servers > 0 ? std::to_string(row.spec.servers) : "-",
                  fmt::format("{:g}", row.spec.learning_rate),
                  row.difference ? fmt::format("{:.2e}", *row.difference) : "-",
                  fmt::format("{:.0e}", row.limit), SameTwice(row), row.ok() ? "OK" : "FAIL"});
  }
  std::string out = table.Render();
  for (const VerifyRow& row : result.rows) {
    if (row.error.empty()) continue;
    out += fmt::format("{} {} workers={} servers={}: {}\n", row.optimizer, row.spec.strategy,
                       row.spec.workers, row.spec.servers, row.error);
  }
  return out;
}

nlohmann::json ToJson(const VerifyResult& result, bool ok) {
  nlohmann::json rows = nlohmann::json::array();
  for (const VerifyRow& row : result.rows) {
    nlohmann::json out{{"optimizer", row.optimizer},
                       {"strategy", row.spec.strategy},
                       {"workers", row.spec.workers},
                       {"servers", row.spec.servers},
                       {"learning_rate", row.spec.learning_rate},
                       {"difference", nullptr},
                       {"limit", row.limit},
                       {"same_twice", nullptr},
                       {"error", row.error},
                       {"ok", row.ok()}};
    if (row.difference) out["difference"] = *row.difference;
    if (row.same_twice) out["same_twice"] = *row.same_twice;
    rows.push_back(std::move(out));
  }
  return {{"schema", "ringside.verify/1"}, {"ok", ok}, {"rows", rows}};
}

int ExitCode(const VerifyResult& result) {
  if (result.interrupted) return kExitInterrupted;
  bool differs = false;
  bool failed = false;
  for (const VerifyRow& row : result.rows) {
    if (row.ok()) continue;
    (row.error.empty() ? differs : failed) = true;
  }
  if (differs) return kExitComparisonFailed;
  return failed ? kExitFailed : kExitDone;
}

}  // namespace

int RunVerifyCommand(const Arguments& args, const Catalog& catalog) {
  const OptionSet options = VerifyOptionSet(catalog);
  const ParsedOptions parsed = options.Parse(args);
  if (parsed.help()) {
    fmt::print("{}", options.Help(Painter::For(stdout, parsed.color())));
    return kExitDone;
  }
  const Environment environment = CurrentEnvironment();
  const EffectiveSpec effective = ReadSpec(parsed, environment, VerifySpecOptions(catalog));
  const std::vector<VerifyGroup> groups = PlanOrRefuse(ReadRequest(parsed, effective));
  if (parsed.IsOn("print-config")) {
    PrintText(stdout, "{}", PrintConfig(effective, groups.front().reference));
    return kExitDone;
  }
  JobOptions job = ReadJobFlags(parsed, environment);
  const bool quiet = parsed.IsOn("quiet");
  job.show_progress = false;
  job.echo_logs = false;
  std::optional<SudoOwnershipTransfer> ownership;
  if (!parsed.Get("out").empty()) ownership.emplace(parsed.Get("out"), environment);
  WorkDirectory work("verify", parsed.Get("out"));
  const auto progress = [&](const VerifyRow& row, int done, int planned) {
    if (quiet) return;
    PrintText(stderr, "[{}/{}] {} {} workers={} servers={}: {}\n", done, planned, row.optimizer,
              row.spec.strategy, row.spec.workers, row.spec.servers, row.ok() ? "OK" : "FAIL");
  };
  const VerifyResult result = RunVerification(groups, work.path(), job, RunJob, progress);
  const int code = ExitCode(result);
  if (code == kExitFailed) {
    work.Keep();
    PrintText(stderr, "logs of the failed runs lie in {}\n", work.path().string());
  }
  if (parsed.IsOn("json")) {
    fmt::print("{}\n", ToJson(result, code == kExitDone).dump(2));
  } else {
    PrintText(stdout, "{}", RenderTable(result));
  }
  return code;
}

}  // namespace ringside
