#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/bench/bench_candidates.h"
#include "ringside/experiments/bench/bench_render.h"
#include "ringside/experiments/bench/bench_runner.h"
#include "ringside/experiments/cli/commands.h"
#include "ringside/experiments/cli/exit_codes.h"
#include "ringside/experiments/cli/options/job_flags.h"
#include "ringside/experiments/cli/options/option_set.h"
#include "ringside/experiments/cli/options/spec_options.h"
#include "ringside/experiments/cli/work_directory.h"
#include "ringside/experiments/job/launcher/externally_launched_rank.h"
#include "ringside/experiments/job/launcher/run_job.h"
#include "ringside/experiments/spec/resolve/resolve.h"
#include "ringside/experiments/text/did_you_mean.h"
#include "ringside/experiments/text/printable.h"
#include "ringside/experiments/text/units.h"
#include "ringside/models/cuda/cuda_models.h"

namespace ringside {
namespace {

constexpr std::string_view kAll = "all";
constexpr std::string_view kSteady = "steady";
constexpr std::string_view kServers = "servers";
constexpr std::string_view kHostMemory = "host";
constexpr std::string_view kDeviceMemory = "device";
constexpr std::int64_t kMaxOperations = 10'000;
constexpr std::int64_t kMaxRounds = 1'000;

// The keys of a run that a bench reads. The other keys are for training.
constexpr std::array<std::string_view, 6> kKeys{"workers", "network", "dilation",
                                                "servers", "timeout", "bucket-mb"};

bool BenchTakes(const Catalog& catalog, const SpecKey& key) {
  if (std::ranges::find(kKeys, key.name) != kKeys.end()) return true;
  return std::ranges::any_of(BenchStrategies(catalog), [&](std::string_view name) {
    return catalog.FindStrategy(name)->Declares(key.name);
  });
}

SpecOptions BenchSpecOptions(const Catalog& catalog, const std::optional<RankEnvironment>& ranks) {
  SpecOptions takes{.defaults = RunSpec(catalog)};
  for (const SpecKey& key : catalog.keys()) {
    if (!BenchTakes(catalog, key)) takes.without.push_back(key.name);
  }
  // Parameters minus the sum of gradients, which is exact for integers.
  takes.defaults.learning_rate = 1;
  takes.defaults.optimizer = {};
  if (ranks) takes.defaults.workers = ranks->workers;
  return takes;
}

OptionSet BenchOptionSet(const SpecOptions& takes) {
  const Catalog& catalog = takes.defaults.catalog();
  OptionSet options("bench",
                    "time the sum over all workers, or a push and pull, in jobs of real processes",
                    {{"ringside bench --strategy ring,ps-sync --workers 2 -b 4KiB -e 64MiB -f 4",
                      "two strategies, sizes by powers of four"},
                     {"ringside bench --strategy ring --workers 2 -b 4MiB -e 4MiB --peers --json",
                      "with bare Gloo and bare MPI libraries, interleaved; output for programs"},
                     {"ringside bench --strategy ps-sync --workers 4 --servers colocated -n 50",
                      "a parameter server in every worker"}});
  options.AddGroup("What is timed");
  options.Add({"strategy", "NAME,...",
               fmt::format("strategies out of {}; or {}: those that can run here",
                           fmt::join(BenchStrategies(catalog), ", "), kAll),
               "ring"});
  options.Add({"min-bytes", "SIZE", "smallest vector", "4KiB", "b"});
  options.Add({"max-bytes", "SIZE", "largest vector", "64MiB", "e"});
  options.Add({"step-factor", "N", "factor from one size to the next", "4", "f"});
  options.Add({"iterations", "N", "timed operations of each size and round", "20", "n"});
  options.Add(
      {"warmup-iterations", "N",
       "untimed operations before those; steady: until the times are steady, for 0.2 to 2 s",
       std::string(kSteady), "w"});
  options.Add({"check", "0|1", "count the elements of known sums that are wrong", "1", "c"});
  options.Add({"memory", "host|device",
               "where the vectors lie; device: in that of GPUs, for what sums there (nccl)",
               std::string(kHostMemory)});
  options.Add({"rounds", "N", "rounds over all contenders, in an order shuffled each time", "1"});
  options.Add({"peers", "",
               "also bare Gloo, bare MPI libraries and a plain copy of memory, in the same rounds",
               ""});
  AddSpecOptions(options, takes);
  AddJobFlags(options);
  options.AddGroup("Results");
  options.Add({"json", "", "one JSON object on stdout", ""});
  return options;
}

int ReadCount(const ParsedOptions& parsed, const std::string& name, std::int64_t least,
              std::int64_t most) {
  const std::int64_t count = ReadFlag(parsed, name, ParseInteger);
  if (count >= least && count <= most) return static_cast<int>(count);
  throw UsageError(fmt::format("--{}: {} is not from {} to {}", name, count, least, most));
}

/// Empty for "steady".
std::optional<int> ReadWarmupIterations(const ParsedOptions& parsed) {
  const std::string name = "warmup-iterations";
  const auto text = ReadFlag(parsed, name, [](const std::string& word) { return word; });
  if (text == kSteady) return std::nullopt;
  if (text.find_first_not_of("-0123456789") != std::string::npos) {
    throw UsageError(fmt::format("--{}: '{}' is neither a number nor '{}'", name, text, kSteady));
  }
  return ReadCount(parsed, name, 0, kMaxOperations);
}

/// Whether the vectors lie on GPUs.
bool ReadMemory(const ParsedOptions& parsed) {
  const auto text = ReadFlag(parsed, "memory", [](const std::string& word) { return word; });
  if (text == kDeviceMemory) return true;
  if (text == kHostMemory) return false;
  throw UsageError(
      fmt::format("--memory: '{}' is neither {} nor {}", text, kHostMemory, kDeviceMemory));
}

/// Throws `UsageError` for a strategy that sums in host memory alone, and `MissingBackendError` if
/// the processes run here, where there is no GPU.
void CheckSumOnDevice(const RunSpec& spec, RunsOn where) {
  const CollectiveEntry* collective = spec.catalog().FindCollective(spec.strategy);
  if (collective == nullptr || !collective->sums_on_device) {
    throw UsageError(fmt::format("--memory: {} does not sum in the memory of GPUs", spec.strategy));
  }
  if (spec.options.codec.encodes()) {
    throw UsageError("--memory: a codec works in host memory alone");
  }
  if (where == RunsOn::kThisMachine) LoadCuda();
}

BenchPlan ReadPlan(const ParsedOptions& parsed) {
  const auto bytes = [](const std::string& text) { return ParseBytes(text); };
  BenchPlan plan;
  const std::int64_t smallest = ReadFlag(parsed, "min-bytes", bytes);
  const std::int64_t largest = ReadFlag(parsed, "max-bytes", bytes);
  const std::int64_t factor = ReadFlag(parsed, "step-factor", ParseInteger);
  try {
    plan.sizes = BenchSizes(smallest, largest, factor);
  } catch (const ConfigError& error) {
    throw UsageError(std::string("--min-bytes, --max-bytes, --step-factor: ") + error.what());
  }
  plan.iterations = ReadCount(parsed, "iterations", 1, kMaxOperations);
  plan.warmup = ReadWarmupIterations(parsed);
  plan.check = ReadFlag(parsed, "check", ParseSwitch);
  plan.on_device = ReadMemory(parsed);
  return plan;
}

void RefuseUnknown(const Catalog& catalog, const std::string& name) {
  const std::vector<std::string_view> names = BenchStrategies(catalog);
  if (std::ranges::find(names, name) != names.end()) return;
  const bool trains = catalog.FindStrategy(name) != nullptr;
  throw UsageError(
      fmt::format("--strategy: {} '{}'{}; there are {}",
                  trains ? "bench times collectives and servers, not" : "no strategy is called",
                  name, trains ? "" : DidYouMean(name, names), fmt::join(names, ", ")));
}

void RefuseRepeated(std::vector<std::string> names) {
  std::ranges::sort(names);
  const auto repeated = std::ranges::adjacent_find(names);
  if (repeated == names.end()) return;
  throw UsageError(fmt::format("--strategy: '{}' is there twice; --rounds repeats", *repeated));
}

/// Resolves the spec for one strategy. Options of other strategies get their defaults.
RunSpec SpecOf(const std::string& strategy, const EffectiveSpec& effective, RunsOn where) {
  const Catalog& catalog = effective.spec.catalog();
  const StrategyEntry& entry = *catalog.FindStrategy(strategy);
  EffectiveSpec own = effective;
  own.spec.strategy = strategy;
  const RunSpec defaults(catalog);
  for (const SpecKey& key : catalog.keys()) {
    if (key.option && !entry.Declares(key.name)) SetSpecKey(own.spec, key, key.get(defaults));
  }
  if (!entry.traits.has_servers()) {
    own.spec.servers = 0;
    own.spec.colocated = false;
    own.spec.servers_as_workers = false;
  }
  // A bench makes no model, so it also runs in a build without libtorch.
  return ResolveEffective(
      own, [where](RunSpec spec) { return ResolveStrategy(std::move(spec), where); });
}

/// Throws `UsageError` for a flag that no strategy of the list reads.
void RefuseUnread(const std::vector<std::string>& strategies, const EffectiveSpec& effective) {
  const Catalog& catalog = effective.spec.catalog();
  const auto read = [&](std::string_view key) {
    return std::ranges::any_of(strategies, [&](const std::string& name) {
      const StrategyEntry& entry = *catalog.FindStrategy(name);
      if (key == kServers) return entry.traits.has_servers();
      if (key == kScheduleOption.name && IsCollective(catalog, name))
        return false;  // one sum needs no schedule
      return entry.Declares(key);
    });
  };
  const auto of_some_strategy = [&](std::string_view key) {
    return key == kServers || catalog.FindKey(key)->option.has_value();
  };
  for (const auto& [key, source] : effective.sources) {
    if (source.kind != EffectiveSpec::Source::Kind::kFlag || !of_some_strategy(key)) continue;
    if (!read(key)) {
      throw UsageError(fmt::format("--{}: no strategy of the list reads it in a bench", key));
    }
  }
}

/// The resolved specs, one per strategy. With `all`, skips strategies that cannot run here or with
/// these values, and records the reasons. When none can run, throws the first error.
std::vector<RunSpec> ReadSpecs(const ParsedOptions& parsed, const EffectiveSpec& effective,
                               bool on_device, std::vector<BenchSkipped>& skipped) {
  std::vector<std::string> names = ReadFlag(parsed, "strategy", ParseWordList);
  const bool all = names == std::vector<std::string>{std::string(kAll)};
  if (all) {
    const auto every = BenchStrategies(effective.spec.catalog());
    names.assign(every.begin(), every.end());
  }
  if (names.empty()) throw UsageError("--strategy: name at least one");
  for (const std::string& name : names) RefuseUnknown(effective.spec.catalog(), name);
  RefuseRepeated(names);
  RefuseUnread(names, effective);
  // Of "all" those run that this machine can run, on other hosts, too.
  const RunsOn where = all ? RunsOn::kThisMachine : WhereProcessesRun(parsed);
  std::vector<RunSpec> specs;
  std::exception_ptr first;
  for (const std::string& name : names) {
    try {
      const RunSpec spec = SpecOf(name, effective, where);
      if (on_device) CheckSumOnDevice(spec, where);
      specs.push_back(spec);
    } catch (const InternalError&) {
      throw;
    } catch (const Error& error) {  // bad value or missing backend
      if (!all) throw;
      if (!first) first = std::current_exception();
      skipped.push_back({name, error.what()});
    }
  }
  if (specs.empty()) std::rethrow_exception(first);
  return specs;
}

/// Runs the jobs of a bench. When another launcher has started this process, each job has its own
/// key and port. So a late rank cannot join an earlier job.
class BenchJobs {
 public:
  BenchJobs(const std::optional<RankEnvironment>& ranks, const Environment& environment)
      : ranks_(ranks), environment_(environment) {}

  JobOutcome Run(const RunSpec& spec, const JobOptions& options) {
    const int sequence = begun_++;
    if (!ranks_) return RunJob(spec, options);
    RankEnvironment ranks = *ranks_;
    ranks.job_key += fmt::format("/bench-{}", sequence);
    if (ranks.master_port > 0) ranks.master_port += sequence;
    return RunExternallyLaunchedRank(spec, options, ranks, environment_);
  }

 private:
  const std::optional<RankEnvironment>& ranks_;
  const Environment& environment_;
  int begun_ = 0;
};

void RefusePortsBeyond(const RankEnvironment& ranks, const BenchSetting& setting,
                       const std::vector<RunSpec>& specs) {
  constexpr std::int64_t kLastPort = 65'535;
  std::int64_t jobs = 0;
  for (const RunSpec& spec : specs)
    jobs += std::int64_t{setting.rounds} * JobsOfRound(spec, setting.plan);
  if (ranks.master_port == 0 || ranks.master_port + jobs - 1 <= kLastPort) return;
  throw UsageError(
      fmt::format("MASTER_PORT={}: the {} jobs of this bench take a port each from "
                  "there on, and {} is the last port; give a lower one",
                  ranks.master_port, jobs, kLastPort));
}

JobOptions ReadJobOptions(const ParsedOptions& parsed, const Environment& environment) {
  JobOptions job = ReadJobFlags(parsed, environment);
  if (DetectRankEnvironment(environment)) RequireOwnLauncher(job);
  job.show_progress = false;
  return job;
}

void Tell(const BenchCandidate& contender, int round, int rounds) {
  PrintText(stderr, "round {} of {}: {}\n", round + 1, rounds, contender.name);
}

void AddPeers(bool joined, bool emulated, BenchSetting& setting) {
  if (setting.plan.on_device) {
    throw UsageError("--peers: they sum in host memory; give no --memory device");
  }
  if (emulated) {
    throw UsageError(
        "--peers: they know nothing of emulated hosts, so they would not use the links of "
        "--network; give only one of the two");
  }
  if (joined) {
    throw UsageError("--peers: they start their own processes on one host; a rank cannot run them");
  }
  for (BenchCandidate& peer : PeerCandidates(setting.workers, setting.plan, setting.skipped)) {
    setting.contenders.push_back(std::move(peer));
  }
}

int ExitCode(const BenchResult& result, const EffectiveSpec& effective) {
  if (result.outcome.status != JobStatus::kDone) {
    return ExitCodeOf(result.outcome, effective.file);
  }
  return result.wrong() > 0 ? kExitComparisonFailed : kExitDone;
}

}  // namespace

int RunBenchCommand(const Arguments& args, const Catalog& catalog) {
  const Environment environment = CurrentEnvironment();
  const std::optional<RankEnvironment> ranks = DetectRankEnvironment(environment);
  const SpecOptions takes = BenchSpecOptions(catalog, ranks);
  const OptionSet options = BenchOptionSet(takes);
  const ParsedOptions parsed = options.Parse(args);
  if (parsed.help()) {
    fmt::print("{}", options.Help(Painter::For(stdout, parsed.color())));
    return kExitDone;
  }
  const EffectiveSpec effective = ReadSpec(parsed, environment, takes);
  BenchSetting setting;
  setting.plan = ReadPlan(parsed);
  setting.rounds = ReadCount(parsed, "rounds", 1, kMaxRounds);
  const std::vector<RunSpec> specs =
      ReadSpecs(parsed, effective, setting.plan.on_device, setting.skipped);
  if (parsed.IsOn("print-config") && !specs.empty()) {
    PrintText(stdout, "{}", PrintConfig(effective, specs.front()));
    return kExitDone;
  }
  if (ranks) RefusePortsBeyond(*ranks, setting, specs);
  const JobOptions job = ReadJobOptions(parsed, environment);
  WorkDirectory work("bench", "");
  BenchJobs jobs(ranks, environment);
  setting.workers = effective.spec.workers;
  for (const RunSpec& spec : specs) {
    setting.contenders.push_back(StrategyCandidate(
        spec, setting.plan, job, work.path(),
        [&](const RunSpec& own, const JobOptions& how) { return jobs.Run(own, how); }));
  }
  if (parsed.IsOn("peers")) {
    AddPeers(ranks.has_value(), effective.spec.network.has_value(), setting);
  }

  const auto tell = [&](const BenchCandidate& contender, int round) {
    if (!parsed.IsOn("quiet")) Tell(contender, round, setting.rounds);
  };
  const BenchResult result = RunBench(setting.contenders, setting.rounds, tell);
  if (!ranks || ranks->hosts()) {
    if (parsed.IsOn("json")) {
      fmt::print("{}\n", BenchJson(setting, result).dump(2));
    } else {
      PrintText(stdout, "{}", RenderBench(setting, result));
    }
  }
  if (result.outcome.status != JobStatus::kDone) {
    PrintText(stderr, "ringside: {}\n", result.outcome.error);
  }
  return ExitCode(result, effective);
}

}  // namespace ringside
