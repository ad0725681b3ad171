#include <fmt/format.h>

#include <array>
#include <cstdint>

#include "ringside/common/base/errors.h"
#include "ringside/common/security/secrets.h"
#include "ringside/experiments/cli/commands.h"
#include "ringside/experiments/cli/exit_codes.h"
#include "ringside/experiments/cli/options/job_flags.h"
#include "ringside/experiments/cli/options/option_set.h"
#include "ringside/experiments/cli/options/spec_options.h"
#include "ringside/experiments/job/launcher/cluster_run.h"
#include "ringside/experiments/job/launcher/network_protection.h"
#include "ringside/experiments/manifest/manifest_plan.h"
#include "ringside/experiments/spec/resolve/resolve.h"
#include "ringside/experiments/spec/server_layout.h"
#include "ringside/experiments/text/units.h"

namespace ringside {
namespace {

constexpr std::int64_t kMaxCount = 4096;
// Which address the hosts will have is not known; that it is not loopback, is.
constexpr const char* kAnyAddress = "192.0.2.1";
// How a run is carried out, wherever it is. `ringside train` gets these as they are.
constexpr std::array kCarriedOver{"tls",        "insecure-network", "start-timeout", "time-limit",
                                  "on-failure", "max-restarts",     "quiet"};
// The manifest itself decides these.
constexpr std::array kDecided{"launcher", "hostfile", "address", "config", "print-config"};

OptionSet ManifestOptionSet(const Catalog& catalog) {
  OptionSet options(
      "manifest", "write the file with which a cluster's scheduler runs 'ringside train'",
      {{"ringside manifest --kind sbatch --strategy ps-sync --workers 4 --servers 2 "
        "--insecure-network | sbatch",
        "a batch script of Slurm"},
       {"ringside manifest --kind mpijob-v2beta1 --image registry/ringside --strategy ring "
        "--workers 4 --insecure-network | kubectl apply -f -",
        "four pods, for Kubeflow's MPI operator"},
       {"ringside manifest --kind trainjob --image registry/ringside --cpus 4 --memory 8Gi "
        "--workers 8 --insecure-network -- python3 train.py",
        "a program of your own, for Kubeflow Trainer"}});
  options.TakeRest({"COMMAND", "the program that every worker runs as its model (--program)"});
  const ManifestPlan defaults;
  options.AddGroup("What is written");
  options.Add({"kind", "KIND", "sbatch, mpijob-v1, mpijob-v2beta1 or trainjob", ""});
  options.Add({"name", "NAME", "name of the job", defaults.name});
  options.Add({"executable", "PATH",
               "ringside on every host, or in the image; empty: with sbatch this one, else that in "
               "PATH",
               ""});
  options.Add({"cpus", "N", "processors for a process", ""});
  options.Add(
      {"memory", "SIZE", "memory for a process (4Gi); in a batch script divided by --cpus", ""});
  options.Add({"gpus", "N", "GPUs for a process", "0"});
  options.Add({"env", "NAME=VALUE", "a variable of all processes; repeat the flag for others", "",
               "", true});
  options.AddGroup("For Kubernetes");
  options.Add({"image", "IMAGE", "image with ringside, OpenMPI and sshd", ""});
  options.Add({"namespace", "NAME", "namespace of the objects; empty: that of kubectl", ""});
  options.Add({"slots-per-pod", "N", "processes in a pod", "1"});
  options.Add(
      {"volume-claim", "NAME",
       "PersistentVolumeClaim that gets the results; without it, the launcher's log has the "
       "summary",
       ""});
  options.AddGroup("For Slurm");
  options.Add({"nodes", "N", "number of nodes; 0: as many as Slurm likes", "0"});
  AddSpecOptions(options, {.defaults = RunSpec(catalog)});
  AddJobFlags(options);
  AddRecoveryFlags(options);
  return options;
}

int ReadCount(const ParsedOptions& parsed, const std::string& name) {
  const std::int64_t count = ReadFlag(parsed, name, ParseInteger);
  if (count < 0 || count > kMaxCount) {
    throw UsageError(fmt::format("--{}: give a number from 0 to {}", name, kMaxCount));
  }
  return static_cast<int>(count);
}

std::vector<std::pair<std::string, std::string>> ReadVariables(const ParsedOptions& parsed) {
  std::vector<std::pair<std::string, std::string>> variables;
  for (const std::string& text : parsed.GetAll("env")) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UsageError(fmt::format("--env: '{}': expected NAME=VALUE", text));
    }
    variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

/// The flags of `ringside train` among those that were given.
std::vector<std::string> TrainFlags(const ParsedOptions& parsed, ManifestKind kind,
                                    const Catalog& catalog) {
  OptionSet of_specs("train", "", {});
  AddSpecOptions(of_specs, {.defaults = RunSpec(catalog)});
  std::vector<std::string_view> names = of_specs.Names();
  names.insert(names.end(), kCarriedOver.begin(), kCarriedOver.end());
  std::vector<std::string> flags;
  for (const std::string_view name : names) {
    if (name == "color" || !parsed.Has(name)) continue;
    // Slurm has the limit itself, and warns before it.
    if (name == "time-limit" && kind == ManifestKind::kSbatch) continue;
    flags.push_back(fmt::format("--{}={}", name, parsed.Get(name)));
  }
  return flags;
}

void RefuseDecided(const ParsedOptions& parsed) {
  for (const char* name : kDecided) {
    if (!parsed.Has(name)) continue;
    throw UsageError(fmt::format("manifest: --{}: {}", name,
                                 std::string_view(name) == "config"
                                     ? "the file is not on the hosts; give its values as flags"
                                     : "the manifest decides that itself"));
  }
}

ManifestPlan ReadPlan(const ParsedOptions& parsed, const RunSpec& spec, const Catalog& catalog) {
  if (parsed.Get("kind").empty()) {
    throw UsageError("manifest: --kind: give sbatch, mpijob-v1, mpijob-v2beta1 or trainjob");
  }
  ManifestPlan plan;
  plan.kind = ReadFlag(parsed, "kind", ParseManifestKind);
  plan.name = parsed.Get("name");
  plan.name_space = parsed.Get("namespace");
  plan.image = parsed.Get("image");
  plan.program = parsed.Get("executable");
  if (plan.program.empty()) {
    plan.program = plan.kind == ManifestKind::kSbatch ? ThisExecutable() : "ringside";
  }
  plan.flags = TrainFlags(parsed, plan.kind, catalog);
  plan.command = parsed.rest();
  plan.workers = spec.workers;
  plan.servers = LayoutServers(spec).dedicated;
  plan.slots = ReadCount(parsed, "slots-per-pod");
  plan.resources = {.cpus = parsed.Get("cpus"),
                    .memory = parsed.Get("memory"),
                    .gpus = ReadCount(parsed, "gpus")};
  plan.environment = ReadVariables(parsed);
  plan.volume_claim = parsed.Get("volume-claim");
  plan.token = MakeToken();
  plan.nodes = ReadCount(parsed, "nodes");
  const double limit = ReadFlag(parsed, "time-limit", ParseSeconds);
  if (limit > 0) plan.time_limit_s = limit;
  return plan;
}

}  // namespace

int RunManifestCommand(const Arguments& args, const Catalog& catalog) {
  const OptionSet options = ManifestOptionSet(catalog);
  const ParsedOptions parsed = options.Parse(args);
  if (parsed.help()) {
    fmt::print("{}", options.Help(Painter::For(stdout, parsed.color())));
    return kExitDone;
  }
  RefuseDecided(parsed);
  // Variables of this shell are not those of the hosts.
  const RunSpec spec = ResolveEffective(
      ReadSpec(parsed, Environment(), {.defaults = RunSpec(catalog)}), ResolveForAnotherMachine);
  if (spec.network) {
    throw UsageError("--network: a cluster has a network of its own, which is not emulated");
  }
  const ManifestPlan plan = ReadPlan(parsed, spec, catalog);
  const JobOptions job =
      ReadJobFlags(parsed, Environment(plan.environment.begin(), plan.environment.end()));
  const std::string address = job.address_given ? job.address : kAnyAddress;
  try {
    if (plan.kind == ManifestKind::kSbatch) {
      LauncherOf(spec, {.program = LauncherProgram::kSrun});
      // Where Slurm chooses the number of nodes, it may choose one, which needs no protection.
      if (plan.nodes > 1) RequireEncryption(spec, job, address);
    } else {
      if (!job.tls.empty()) {
        throw ConfigError(
            "--tls: certificates are for addresses, and those of pods are not known before");
      }
      RequireEncryption(spec, job, address);
    }
    fmt::print("{}", ManifestText(plan));
  } catch (const ConfigError& error) {
    throw UsageError(std::string("manifest: ") + error.what());
  }
  return kExitDone;
}

}  // namespace ringside
