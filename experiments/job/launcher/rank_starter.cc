#include "ringside/experiments/job/launcher/rank_starter.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "ringside/common/core/deadline.h"
#include "ringside/common/core/errors.h"
#include "ringside/experiments/job/launcher/rank_agent.h"
#include "ringside/experiments/job/processes/mpirun.h"
#include "ringside/experiments/system/find_program.h"

namespace ringside {
namespace {

constexpr std::size_t kMaxSetupBytes = 64 << 10;
constexpr std::chrono::milliseconds kTick{10};
// mpirun passes the first signal on and waits a second for its effect.
constexpr std::chrono::milliseconds kTermGrace{2'000};

std::vector<std::string> CommandLine(const MemberSetup& setup, const std::string& setup_path,
                                     const std::string& scratch, const ChildGroup::Options& logs) {
  MpirunOptions options;
  options.mpirun = FindProgram("mpirun");
  if (options.mpirun.empty()) {
    throw MissingBackendError("mpirun is not in PATH; install openmpi-bin");
  }
  options.workers = setup.spec.workers;
  options.cores = static_cast<int>(std::thread::hardware_concurrency());
  options.as_root = ::geteuid() == 0;
  options.command = {logs.program, "agent", "--setup-file", setup_path};
  if (!logs.echo) options.command.emplace_back("--quiet");
  options.scratch = scratch;
  return MpirunArguments(options);
}

std::string LogPath(const std::string& directory) {
  return directory.empty() ? std::string() : directory + "/mpirun.log";
}

}  // namespace

RankStarter::RankStarter(const MemberSetup& setup, const Environment& environment,
                         const ChildGroup::Options& logs, Console& console)
    : setup_file_(std::in_place, environment, setup.ToJson()),
      scratch_(environment),
      process_({.argv = CommandLine(setup, setup_file_->path(), scratch_.path(), logs),
                .environment = {orphans_.mark()}}),
      // Lines of workers already have their prefix.
      log_(process_.output_fd(), "", LogPath(logs.log_dir), console, logs.echo) {}

const std::optional<ProcessEnd>& RankStarter::Poll() {
  log_.ForwardAvailable();
  const auto& end = process_.Poll();
  if (end) {
    log_.ForwardAvailable();
    log_.Flush();
  }
  return end;
}

void RankStarter::End(std::chrono::milliseconds grace) {
  EndMpirun(grace);
  // Agents that outlived a killed mpirun have had their time.
  static_cast<void>(orphans_.KillAll());
}

void RankStarter::EndMpirun(std::chrono::milliseconds grace) {
  if (EndsWithin(grace)) return;
  process_.Signal(SIGTERM);
  if (EndsWithin(kTermGrace)) return;
  process_.Signal(SIGKILL);
  // After SIGKILL a process exists only for a short time.
  while (!Poll()) ::poll(nullptr, 0, static_cast<int>(kTick.count()));
}

bool RankStarter::EndsWithin(std::chrono::milliseconds wait) {
  const Deadline deadline = Deadline::After(wait);
  while (!Poll()) {
    if (deadline.expired()) return false;
    pollfd output{process_.output_fd(), POLLIN, 0};
    // If it fails, this round was shorter.
    ::poll(log_.open() ? &output : nullptr, log_.open() ? 1 : 0, static_cast<int>(kTick.count()));
  }
  return true;
}

int RunAgent(const std::vector<std::string>& args, const Catalog& catalog) {
  const Environment environment = CurrentEnvironment();
  const auto ranks = DetectRankEnvironment(environment);
  const bool quiet = args.size() == 3 && args[2] == "--quiet";
  if (!ranks || (args.size() != 2 && !quiet) || args[0] != "--setup-file") {
    throw UsageError("this verb is for the launcher alone: use 'ringside train'");
  }
  const auto content = ReadPrivateFile(args[1], kMaxSetupBytes);
  if (!content) throw CommError("the launcher", "reading " + args[1], "the file is gone");
  MemberSetup setup = MemberSetup::FromJson(*content, catalog);
  setup.who = {Role::kWorker, ranks->rank};
  setup.world.rank = ranks->rank;
  setup.world.local_rank = ranks->local_rank;
  setup.world.local_workers = ranks->local_workers;
  setup.parent_pid = ::getpid();
  const JobOptions options{.bundle_dir = setup.bundle_dir, .echo_logs = !quiet};
  RankAgent(std::move(setup), options).Run();
  return 0;
}

}  // namespace ringside
