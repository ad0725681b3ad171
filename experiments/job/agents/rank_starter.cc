#include "ringside/experiments/job/agents/rank_starter.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/errors.h"
#include "ringside/experiments/job/agents/run_agent.h"
#include "ringside/experiments/job/processes/mpirun.h"
#include "ringside/experiments/job/processes/srun.h"
#include "ringside/experiments/system/files/files.h"

namespace ringside {
namespace {

constexpr std::chrono::milliseconds kTick{10};
// mpirun passes the first signal on and waits a second for its effect.
constexpr std::chrono::milliseconds kTermGrace{2'000};
constexpr std::chrono::milliseconds kEndAfterKill{10'000};

/// Whether a variable says something about this host or this session that is wrong elsewhere.
bool IsOfThisHost(std::string_view name) {
  constexpr std::array kPrefixes{"OMPI_", "PMIX_", "PMI_",  "SLURM_",        "SLURMD_",
                                 "SSH_",  "XDG_",  "DBUS_", "RINGSIDE_RUN_", "BASH_FUNC_"};
  constexpr std::array kNames{"HOSTNAME", "HOME", "USER",   "LOGNAME", "SHELL", "DISPLAY", "TMPDIR",
                              "PWD",      "_",    "OLDPWD", "SHLVL",   "TERM",  "MAIL"};
  return std::ranges::any_of(kPrefixes, [&](const char* p) { return name.starts_with(p); }) ||
         std::ranges::any_of(kNames, [&](const char* n) { return name == n; });
}

std::vector<std::string> VariablesForOtherHosts(const Environment& environment) {
  std::vector<std::string> names;
  for (const auto& [name, value] : environment) {
    if (!name.empty() && !IsOfThisHost(name)) names.push_back(name);
  }
  return names;
}

std::vector<std::string> HostsOf(const Placement& placement) {
  std::vector<std::string> hosts;
  for (int process = 0; process < placement.processes(); ++process) {
    hosts.push_back(placement.HostOf(process));
  }
  return hosts;
}

std::string PreloadOf(const Environment& environment) {
  const auto preload = environment.find("LD_PRELOAD");
  return preload == environment.end() ? "" : preload->second;
}

/// Lets mpirun listen on loopback alone. The library's own path may hold a blank or a colon, which
/// LD_PRELOAD cannot; a link in `scratch` has neither.
std::vector<std::string> KeptOnLoopback(const std::string& scratch, const Environment& environment,
                                        Console& console) {
  const std::string library = LoopbackLibrary();
  if (library.empty()) {
    console.Print("warning: mpirun listens on all addresses: libringside_loopback.so is missing");
    return {};
  }
  const std::string link = scratch + "/libringside_loopback.so";
  std::filesystem::create_symlink(library, link);
  const std::string before = PreloadOf(environment);
  return {"LD_PRELOAD=" + link + (before.empty() ? "" : ":" + before)};
}

std::vector<std::string> MpirunCommand(const AgentPlan& plan, std::vector<std::string> command,
                                       const std::string& scratch, const Environment& environment) {
  MpirunOptions options{.mpirun = plan.program_path,
                        .workers = plan.placement.processes(),
                        .cores = static_cast<int>(std::thread::hardware_concurrency()),
                        .as_root = ::geteuid() == 0,
                        .command = std::move(command)};
  if (plan.placement.is_here()) {
    options.scratch = scratch;
    options.preload = PreloadOf(environment);
  } else {
    options.hosts = HostsOf(plan.placement);
    options.variables = VariablesForOtherHosts(environment);
  }
  return MpirunArguments(options);
}

std::vector<std::string> SrunCommand(const AgentPlan& plan, std::vector<std::string> command,
                                     const std::string& scratch) {
  std::string lines;
  for (const std::string& host : HostsOf(plan.placement)) lines += host + "\n";
  WriteFileAtomically(scratch + "/hosts", lines);
  return SrunArguments({.srun = plan.program_path,
                        .processes = plan.placement.processes(),
                        .hosts = static_cast<int>(plan.placement.hosts.size()),
                        .command = std::move(command)});
}

/// How the program is started. `token_file`: where agents read the token.
Process::Options StartOf(const AgentPlan& plan, const std::string& token_file,
                         const std::string& scratch, const Environment& environment,
                         const ChildGroup::Options& logs, Console& console) {
  const bool srun = plan.program == LauncherProgram::kSrun;
  std::vector<std::string> command{logs.program, "agent"};
  const std::vector<std::string> arguments = AgentArguments{.coordinator = plan.setup.coordinator,
                                                            .token_file = srun ? "-" : token_file,
                                                            .tls = plan.setup.tls,
                                                            .quiet = !logs.echo}
                                                 .ToArguments();
  command.insert(command.end(), arguments.begin(), arguments.end());
  Process::Options options;
  if (srun) {
    options.argv = SrunCommand(plan, std::move(command), scratch);
    options.standard_input = plan.setup.token;
    options.environment = {"SLURM_HOSTFILE=" + scratch + "/hosts"};
  } else {
    options.argv = MpirunCommand(plan, std::move(command), scratch, environment);
    if (plan.placement.is_here()) {
      options.environment = KeptOnLoopback(scratch, environment, console);
    }
  }
  return options;
}

/// Not a line of '-', which OpenMPI draws around its messages, nor one of a member or of ssh.
bool SaysAnything(const std::string& line) {
  return line.find_first_not_of("- \t\r") != std::string::npos && !line.starts_with('[') &&
         !line.starts_with("Warning: ");
}

Process::Options With(Process::Options options, const std::string& variable) {
  options.environment.push_back(variable);
  return options;
}

}  // namespace

std::string AgentPlan::ToJson() const {
  MemberSetup without_token = setup;
  without_token.token.clear();
  return nlohmann::json{{"setup", without_token.ToJson()},
                        {"placement", placement},
                        {"start_timeout_ms", start_timeout.count()}}
      .dump();
}

RankStarter::RankStarter(const AgentPlan& plan, const Environment& environment,
                         const ChildGroup::Options& logs, Console& console)
    : console_(console),
      name_(LauncherProgramName(plan.program)),
      log_path_(logs.log_dir.empty() ? "" : logs.log_dir + "/" + name_ + ".log"),
      scratch_(environment),
      death_watch_(orphans_.mark(), scratch_.path()),
      process_(With(
          StartOf(plan, TokenPath(plan, environment), scratch_.path(), environment, logs, console),
          orphans_.mark())),
      // Lines of workers already have their prefix.
      log_(process_.output_fd(), "", log_path_, log_writer_, console, logs.echo) {
  log_.OnLine([this](const std::string& line) {
    if (first_words_.empty() && SaysAnything(line)) first_words_ = line;
  });
}

const std::string& RankStarter::TokenPath(const AgentPlan& plan, const Environment& environment) {
  if (plan.token_file.empty() && plan.program != LauncherProgram::kSrun) {
    return token_file_.emplace(environment, plan.setup.token).path();
  }
  return plan.token_file;
}

const std::optional<ProcessEnd>& RankStarter::Poll() {
  log_.ForwardAvailable();
  const auto& end = process_.Poll();
  if (end) {
    log_.ForwardRest();
    log_.Flush();
  }
  return end;
}

void RankStarter::End(std::chrono::milliseconds grace) {
  EndProgram(grace);
  // Agents that outlived a killed mpirun have had their time.
  static_cast<void>(orphans_.KillAll());
}

void RankStarter::EndProgram(std::chrono::milliseconds grace) {
  if (EndsWithin(grace)) return;
  process_.Signal(SIGTERM);
  if (EndsWithin(kTermGrace)) return;
  process_.Signal(SIGKILL);
  // After SIGKILL a process exists only for a short time, unless its disk or file server does not
  // answer. Then the kernel ends it later.
  if (EndsWithin(kEndAfterKill)) return;
  console_.Print(fmt::format("warning: {}, process {}, does not end after SIGKILL; left alone",
                             name_, process_.pid()));
}

bool RankStarter::EndsWithin(std::chrono::milliseconds wait) {
  const Deadline deadline = Deadline::After(wait);
  while (!Poll()) {
    if (deadline.expired()) return false;
    pollfd output{process_.output_fd(), POLLIN, 0};
    // If it fails, this round was shorter.
    const bool reads = log_.wants_input();
    ::poll(reads ? &output : nullptr, reads ? 1 : 0, static_cast<int>(kTick.count()));
  }
  return true;
}

}  // namespace ringside
