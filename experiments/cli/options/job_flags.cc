#include "ringside/experiments/cli/options/job_flags.h"

#include <filesystem>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/text/units.h"

namespace ringside {

namespace {

constexpr int kMaxRestarts = 1000;
constexpr double kMaxStartSeconds = 3600;

void ReadAddress(const ParsedOptions& parsed, const Environment& environment, JobOptions& job) {
  job.address = parsed.Get("address");
  job.address_given = parsed.Has("address");
  const auto variable = environment.find("RINGSIDE_ADDRESS");
  if (job.address_given || variable == environment.end() || variable->second.empty()) return;
  job.address = variable->second;
  job.address_given = true;
}

/// Processes of the job may have other working directories.
std::string ReadTls(const ParsedOptions& parsed, const Environment& environment) {
  std::string directory = parsed.Get("tls");
  const auto variable = environment.find("RINGSIDE_TLS");
  if (!parsed.Has("tls") && variable != environment.end()) directory = variable->second;
  return directory.empty() ? directory : std::filesystem::absolute(directory).string();
}

}  // namespace

void AddJobFlags(OptionSet& options) {
  const JobOptions defaults;
  options.AddGroup("How it is run");
  options.Add({"address", "IP",
               "all processes listen and connect here, on several hosts only the coordinator; else "
               "RINGSIDE_ADDRESS",
               defaults.address});
  options.Add({"tls", "DIR",
               "certificates by which coordinator, servers and workers know each other; grpc is "
               "encrypted; else RINGSIDE_TLS",
               ""});
  options.Add({"insecure-network", "", "allow an address that is not loopback, unencrypted", ""});
  options.Add({"launcher", "PROGRAM",
               "what starts the processes: ringside, on this machine; mpirun, by ssh on the hosts "
               "of --hostfile; srun, on the nodes of its allocation",
               LauncherProgramName(defaults.launcher.program)});
  options.Add({"hostfile", "FILE",
               "the hosts for --launcher mpirun (without --launcher, too) or srun: a line each, "
               "NAME [slots=N] [servers=M]",
               ""});
  options.Add({"start-timeout", "TIME",
               "how long to wait until all processes have joined; empty: 30s, and 10min for a "
               "program of your own",
               ""});
  options.Add({"time-limit", "TIME", "end a run that takes longer (10min); 0: none", "0"});
  options.Add({"quiet", "", "no progress and no logs of the processes on stderr", ""});
}

void AddRecoveryFlags(OptionSet& options) {
  const RecoveryOptions defaults;
  options.AddGroup("When a process fails");
  options.Add({"on-failure", "WHAT",
               "stop; restart: all processes go on from the newest checkpoint; shrink: without a "
               "lost worker, and servers that need no particular one just go on",
               OnFailureName(defaults.on_failure)});
  options.Add(
      {"max-restarts", "N", "restarts of a run, at most", std::to_string(defaults.max_restarts)});
}

namespace {

void ReadLauncher(const ParsedOptions& parsed, LauncherOptions& launcher) {
  launcher.program = ReadFlag(parsed, "launcher", ParseLauncherProgram);
  launcher.hostfile = parsed.Get("hostfile");
  if (!launcher.hostfile.empty() && launcher.program == LauncherProgram::kRingside) {
    if (parsed.Has("launcher")) {
      throw UsageError(
          "--hostfile: ringside itself starts processes on this machine alone; give "
          "--launcher mpirun or srun");
    }
    launcher.program = LauncherProgram::kMpirun;
  }
  if (parsed.Get("start-timeout").empty()) return;
  const double seconds = ReadFlag(parsed, "start-timeout", ParseSeconds);
  if (seconds <= 0 || seconds > kMaxStartSeconds) {
    throw UsageError("--start-timeout: give more than 0 s and at most an hour");
  }
  launcher.start_timeout = std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * seconds));
}

void ReadRecovery(const ParsedOptions& parsed, RecoveryOptions& recovery) {
  recovery.on_failure = ReadFlag(parsed, "on-failure", ParseOnFailure);
  const std::int64_t restarts = ReadFlag(parsed, "max-restarts", ParseInteger);
  if (restarts < 0 || restarts > kMaxRestarts) {
    throw UsageError("--max-restarts: give a number from 0 to " + std::to_string(kMaxRestarts));
  }
  recovery.max_restarts = static_cast<int>(restarts);
}

}  // namespace

RunsOn WhereProcessesRun(const ParsedOptions& parsed) {
  LauncherOptions launcher;
  ReadLauncher(parsed, launcher);
  return launcher.program == LauncherProgram::kRingside ? RunsOn::kThisMachine
                                                        : RunsOn::kOtherHosts;
}

void RequireOwnLauncher(const JobOptions& job) {
  if (job.launcher.program == LauncherProgram::kRingside) return;
  throw UsageError(
      "--launcher, --hostfile: another launcher has started this process already, as one rank of a "
      "job");
}

JobOptions ReadJobFlags(const ParsedOptions& parsed, const Environment& environment) {
  JobOptions job;
  ReadAddress(parsed, environment, job);
  ReadLauncher(parsed, job.launcher);
  if (parsed.Takes("on-failure")) ReadRecovery(parsed, job.recovery);
  job.insecure_network = parsed.IsOn("insecure-network");
  job.tls = ReadTls(parsed, environment);
  job.show_progress = !parsed.IsOn("quiet");
  job.echo_logs = job.show_progress;
  try {
    job.time_limit_s = ParseSeconds(parsed.Get("time-limit"));
  } catch (const ConfigError& error) {
    throw UsageError(std::string("--time-limit: ") + error.what());
  }
  if (job.time_limit_s < 0) throw UsageError("--time-limit: must not be negative");
  return job;
}

}  // namespace ringside
