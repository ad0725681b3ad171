#include "ringside/experiments/job/launcher/cluster_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/errors.h"
#include "ringside/experiments/job/launcher/make_member_setup.h"
#include "ringside/experiments/job/placement/cluster_hosts.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/server_layout.h"
#include "ringside/experiments/system/files/find_program.h"
#include "ringside/experiments/system/network/network_address.h"
#include "ringside/experiments/system/processes/command_output.h"

namespace ringside {
namespace {

constexpr const char* kTokenVariable = "RINGSIDE_TOKEN_FILE";

/// The hosts that the options name, or those of the Slurm job. Absent: this machine alone.
std::optional<ClusterHosts> HostsOf(const LauncherOptions& options,
                                    const Environment& environment) {
  if (options.program == LauncherProgram::kRingside) return std::nullopt;
  const bool srun = options.program == LauncherProgram::kSrun;
  if (!srun && !options.hostfile.empty()) return ReadHostfile(options.hostfile);
  std::optional<ClusterHosts> allocation = SlurmAllocation(environment);
  if (!allocation && srun) {
    throw ConfigError(
        "srun starts processes in an allocation: call this in a job of sbatch or salloc");
  }
  if (options.hostfile.empty()) return allocation;
  ClusterHosts listed = ReadHostfile(options.hostfile);
  for (const ClusterHost& host : listed.hosts) {
    if (std::ranges::find(allocation->hosts, host.name, &ClusterHost::name) ==
        allocation->hosts.end()) {
      throw ConfigError(fmt::format("{}: node '{}' is not one of {}", host.origin, host.name,
                                    allocation->origin));
    }
  }
  return listed;
}

/// Whether Slurm has started this process on that node, whose name need not be a host's name.
bool IsThisNode(const ClusterHost& host, const Environment& environment) {
  const auto node = environment.find(std::string_view("SLURMD_NODENAME"));
  return node != environment.end() && node->second == host.name;
}

/// The words with which mpirun calls ssh. Empty where something else reaches the hosts: Slurm, or a
/// program that OpenMPI's settings name. That may know names which nobody else knows.
std::vector<std::string> SshCommand(const LauncherOptions& options,
                                    const Environment& environment) {
  if (options.program != LauncherProgram::kMpirun || options.hostfile.empty() ||
      environment.contains("SLURM_JOB_ID")) {
    return {};
  }
  std::string text = "ssh";
  const auto agent = environment.find(std::string_view("OMPI_MCA_plm_rsh_agent"));
  // OpenMPI takes the first program of "ssh : rsh".
  if (agent != environment.end()) text = agent->second.substr(0, agent->second.find(':'));
  const auto arguments = environment.find(std::string_view("OMPI_MCA_plm_rsh_args"));
  if (arguments != environment.end()) text += " " + arguments->second;
  std::istringstream stream(text);
  std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
  if (words.empty() || std::filesystem::path(words.front()).filename() != "ssh") return {};
  return words;
}

/// Where ssh's settings lead from the name of a host.
struct SshTarget {
  std::string name;         ///< Of the host; empty when ssh does not say.
  bool by_another = false;  ///< Another host or program connects, and may know that name alone.
};

SshTarget TargetOf(const std::string& host, std::vector<std::string> ssh) {
  constexpr std::chrono::seconds kTimeout{5};
  ssh.front() = PathOfCommand(ssh.front());
  if (ssh.front().empty()) return {};
  ssh.insert(ssh.end(), {"-G", host});
  SshTarget target;
  try {
    std::istringstream lines(OutputOf(ssh, Deadline::After(kTimeout)));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("hostname ")) target.name = line.substr(line.find(' ') + 1);
      if (line.starts_with("proxyjump ") || line.starts_with("proxycommand ")) {
        target.by_another = true;
      }
    }
  } catch (const MissingBackendError&) {
    return {};  // The caller says that the host is unknown.
  }
  return target;
}

/// The IP address of a host, or of the one that ssh's settings have for that name. Absent if ssh
/// reaches it through another one. Throws `ConfigError` when nobody knows it.
std::optional<std::string> FindHost(const ClusterHost& host, const std::vector<std::string>& ssh) {
  try {
    return ResolveHost(host.name);
  } catch (const ConfigError&) {
    const SshTarget target = ssh.empty() ? SshTarget() : TargetOf(host.name, ssh);
    if (target.by_another) return std::nullopt;
    if (target.name.empty() || target.name == host.name) throw;
    return ResolveHost(target.name);
  }
}

/// The address that this machine uses towards another one; absent if that is this machine.
std::optional<std::string> AddressTowards(const std::string& there) {
  if (IsLoopback(there)) return std::nullopt;
  std::string here = SourceAddressTowards(there);
  if (here == there) return std::nullopt;
  return here;
}

std::string PathOf(LauncherProgram program) {
  const std::string name = LauncherProgramName(program);
  std::string path = FindProgram(name);
  if (path.empty()) {
    throw MissingBackendError(name + " is not in PATH; install " +
                              (program == LauncherProgram::kSrun ? "slurm-client" : "openmpi-bin"));
  }
  return path;
}

}  // namespace

std::chrono::milliseconds JoinTimeout(const RunSpec& spec, const LauncherOptions& options) {
  constexpr std::chrono::seconds kOwn{30};
  constexpr std::chrono::minutes kOfPrograms{10};
  if (options.start_timeout) return *options.start_timeout;
  return spec.program.empty() ? std::chrono::milliseconds(kOwn) : kOfPrograms;
}

LauncherProgram LauncherOf(const RunSpec& spec, const LauncherOptions& options) {
  const StrategyEntry* entry = spec.catalog().FindStrategy(spec.strategy);
  if (entry == nullptr || entry->traits.ranks != Ranks::kMpiProcesses) return options.program;
  if (options.program == LauncherProgram::kSrun) {
    throw ConfigError(fmt::format(
        "the workers of strategy '{}' must be started by mpirun, not by srun", spec.strategy));
  }
  return LauncherProgram::kMpirun;
}

JobOptions WithReachableAddress(const RunSpec& spec, const JobOptions& options,
                                const Environment& environment) {
  JobOptions reachable = options;
  if (LauncherOf(spec, options.launcher) == LauncherProgram::kRingside) return reachable;
  const std::vector<std::string> ssh = SshCommand(options.launcher, environment);
  bool found = options.address_given;
  if (found && ssh.empty()) return reachable;
  const std::optional<ClusterHosts> hosts = HostsOf(options.launcher, environment);
  if (!hosts) return reachable;
  for (const ClusterHost& host : hosts->hosts) {
    if (found && ssh.empty()) break;
    if (IsThisNode(host, environment)) continue;
    bool address_helps = ssh.empty();
    try {
      const std::optional<std::string> there = FindHost(host, ssh);
      if (found) continue;
      address_helps = true;
      if (!there) throw ConfigError("ssh reaches '" + host.name + "' through another host");
      const std::optional<std::string> here = AddressTowards(*there);
      if (!here) continue;
      reachable.address = *here;
      found = true;
    } catch (const ConfigError& error) {
      throw ConfigError(
          fmt::format("{}: {}{}", host.origin, error.what(),
                      address_helps ? "; --address gives the address of this machine" : ""));
    }
  }
  return reachable;
}

std::optional<AgentPlan> PlanAgents(const RunSpec& spec, const JobOptions& options,
                                    const Environment& environment) {
  const LauncherProgram program = LauncherOf(spec, options.launcher);
  if (program == LauncherProgram::kRingside) return std::nullopt;
  if (spec.network) {
    throw ConfigError(fmt::format(
        "network: {} starts the processes, on hosts of its own; leave out --launcher and "
        "--hostfile to emulate hosts",
        LauncherProgramName(program)));
  }
  if (spec.hosts > 0 && options.launcher.program != LauncherProgram::kRingside) {
    throw ConfigError(fmt::format("hosts: {} starts the processes, so the hosts are what they are",
                                  LauncherProgramName(program)));
  }
  const int servers = LayoutServers(spec).dedicated;
  const std::optional<ClusterHosts> hosts = HostsOf(options.launcher, environment);
  AgentPlan plan{
      .program = program,
      .placement =
          hosts ? PlaceOn(*hosts, spec.workers, servers) : PlaceHere(spec.workers, servers),
      .setup =
          MakeMemberSetup(spec, options, {Role::kWorker, 0}, options.address, {0, spec.workers}),
      .program_path = PathOf(program),
      .start_timeout = options.launcher.start_timeout.value_or(AgentPlan().start_timeout)};
  // Agents may have another working directory.
  plan.setup.bundle_dir = std::filesystem::absolute(options.bundle_dir).string();
  if (program == LauncherProgram::kSrun || plan.placement.is_here() ||
      IsLoopback(options.address)) {
    return plan;
  }
  const auto variable = environment.find(std::string_view(kTokenVariable));
  if (variable == environment.end() || variable->second.empty()) {
    throw ConfigError(fmt::format(
        "processes on other hosts need the token of the job: set {} to a file that has it on every "
        "host, readable by its user alone; 'openssl rand -hex 32' makes a token",
        kTokenVariable));
  }
  plan.token_file = std::filesystem::absolute(variable->second).string();
  return plan;
}

}  // namespace ringside
