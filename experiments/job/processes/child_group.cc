#include "ringside/experiments/job/processes/child_group.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/system/files/find_program.h"
#include "ringside/experiments/text/printable.h"

namespace ringside {
namespace {

constexpr std::chrono::seconds kEndAfterKill{10};
constexpr std::chrono::seconds kReapEvery{1};

/// The program that can make the model: this one, or otherwise the ringside-worker in the same
/// directory. RINGSIDE_WORKER names another ringside-worker.
std::string ProgramFor(const RunSpec& spec, const std::string& program) {
  const ModelEntry* model = spec.catalog().FindModel(spec.model);
  if (model == nullptr || model->make != nullptr) return program;
  const char* other = std::getenv("RINGSIDE_WORKER");
  return other != nullptr ? other : DirectoryOfThisExecutable() + "/ringside-worker";
}

/// Whether this member is a program of the user's.
bool IsUserProgram(const MemberSetup& setup) {
  return setup.who.role == Role::kWorker && !setup.bench && !setup.spec.program.empty();
}

/// Throws `MissingBackendError` when this machine lacks the program.
std::vector<std::string> UserCommand(const RunSpec& spec) {
  std::vector<std::string> argv = spec.program;
  argv.front() = PathOfCommand(argv.front());
  if (!argv.front().empty()) return argv;
  throw MissingBackendError(WhyNoCommand(spec.program.front()));
}

/// What a program of the user's finds besides the variables of this process. `ringside.init()`
/// reads the first.
std::vector<std::string> UserVariables(const MemberSetup& setup) {
  std::vector<std::string> variables{
      fmt::format("{}={}", kJobFdVariable, kSecretInputFd),
      "PYTHONUNBUFFERED=1"};  // its last lines count even if it is killed
  if (std::getenv("OMP_NUM_THREADS") == nullptr) {
    variables.push_back("OMP_NUM_THREADS=" + std::to_string(setup.spec.threads));
  }
  return variables;
}

std::vector<std::string> CommandLine(const MemberSetup& setup, const std::string& program) {
  std::vector<std::string> argv;
  if (setup.who.role == Role::kServer) {
    argv = {program, "server"};
  } else if (setup.bench) {
    argv = {program, "bench-worker"};
  } else {
    argv = {ProgramFor(setup.spec, program), "worker"};
  }
  // The rank is there for people who read `ps`.
  argv.insert(argv.end(), {"--rank", std::to_string(setup.who.index), "--job-fd",
                           std::to_string(kSecretInputFd)});
  return argv;
}

std::string LogPath(const std::string& directory, const Member& who) {
  if (directory.empty()) return {};
  std::string name = MemberName(who);
  std::ranges::replace(name, ' ', '-');
  return directory + "/" + name + ".log";
}

}  // namespace

FailureKind KindOfEnd(const ProcessEnd& end) {
  if (end.out_of_memory) return FailureKind::kOutOfMemory;
  return end.signal != 0 ? FailureKind::kSignal : FailureKind::kEarlyExit;
}

std::string ChildGroup::End::LastWord() const {
  const bool gave_up = end.signal == 0 ? end.code != 0 : end.signal != SIGKILL;
  if (!gave_up) return "";
  return Printable(ValidUtf8(last_line));
}

ChildGroup::Child::Child(const MemberSetup& setup, const Process::Options& process_options,
                         const std::string& log_path, FileWriter& writer, Console& console,
                         bool echo)
    : who(setup.who),
      process(process_options),
      log(process.output_fd(), MemberName(setup.who), log_path, writer, console, echo) {}

void ChildGroup::Start(const MemberSetup& setup, int network_namespace) {
  if (!death_watch_) death_watch_.emplace(orphans_.mark());
  const bool user_program = IsUserProgram(setup);
  Process::Options options{
      .argv = user_program ? UserCommand(setup.spec) : CommandLine(setup, options_.program),
      .secret_input = setup.ToJson(),
      .network_namespace = network_namespace,
      .environment = {orphans_.mark()}};
  if (user_program) {
    std::ranges::copy(UserVariables(setup), std::back_inserter(options.environment));
  }
  children_.push_back(std::make_unique<Child>(setup, options, LogPath(options_.log_dir, setup.who),
                                              log_writer_, console_, options_.echo));
}

void ChildGroup::WaitForInput(std::chrono::milliseconds wait, int fd) const {
  std::vector<pollfd> fds{{fd, POLLIN, 0}};
  for (const auto& child : children_) {
    if (child->log.wants_input()) fds.push_back({child->log.fd(), POLLIN, 0});
  }
  // If it fails, this wait was shorter. The caller looks at everything in either case.
  ::poll(fds.data(), fds.size(), static_cast<int>(wait.count()));
}

void ChildGroup::Poll(std::chrono::milliseconds wait, int fd) {
  WaitForInput(wait, fd);
  for (const auto& child : children_) {
    child->log.ForwardAvailable();
    if (!child->process.Poll()) continue;
    // Forwards the child's last output.
    child->log.ForwardRest();
    child->log.Flush();
  }
  if (next_reaping_.expired()) ReapOrphans();
}

void ChildGroup::ReapOrphans() {
  std::vector<pid_t> pids;
  for (const auto& child : children_) pids.push_back(child->process.pid());
  orphans_.ReapEnded(pids);
  next_reaping_ = Deadline::After(kReapEvery);
}

std::vector<ChildGroup::End> ChildGroup::TakeEnds() {
  std::vector<End> ends;
  for (const auto& child : children_) {
    if (child->end_taken) continue;
    const std::optional<ProcessEnd>& end = child->process.Poll();
    if (!end) continue;
    child->end_taken = true;
    // It may have ended since its output was forwarded.
    child->log.ForwardRest();
    child->log.Flush();
    ends.push_back({child->who, child->process.pid(), *end, child->log.last_line()});
  }
  return ends;
}

void ChildGroup::DrainLogs() {
  for (const auto& child : children_) child->log.Drain();
}

bool ChildGroup::all_ended() const {
  return std::ranges::all_of(children_,
                             [](const auto& child) { return child->process.Poll().has_value(); });
}

bool ChildGroup::all_ends_taken() const {
  return std::ranges::all_of(children_, [](const auto& child) { return child->end_taken; });
}

std::vector<Member> ChildGroup::running() const {
  std::vector<Member> running;
  for (const auto& child : children_) {
    if (!child->end_taken) running.push_back(child->who);
  }
  return running;
}

std::vector<ChildGroup::Started> ChildGroup::started() const {
  std::vector<Started> all;
  for (const auto& child : children_) all.push_back({child->who, child->process.pid()});
  return all;
}

void ChildGroup::Kill(const Member& who) {
  for (const auto& child : children_) {
    if (child->who == who) child->process.Signal(SIGKILL);
  }
}

void ChildGroup::SignalAll(int signal) const {
  for (const auto& child : children_) child->process.Signal(signal);
}

void ChildGroup::EndAll(std::chrono::milliseconds grace) {
  SignalAll(SIGTERM);
  const Deadline deadline = Deadline::After(grace);
  constexpr std::chrono::milliseconds kTick{10};
  while (!all_ended() && !deadline.expired()) Poll(kTick, -1);
  SignalAll(SIGKILL);
  // After SIGKILL a process exists only for a short time, unless its disk or file server does not
  // answer. Then the kernel ends it later.
  const Deadline killed = Deadline::After(kEndAfterKill);
  while (!all_ended() && !killed.expired()) Poll(kTick, -1);
  for (const auto& child : children_) {
    if (child->process.Poll()) continue;
    console_.Print(fmt::format("warning: process {} of {} does not end after SIGKILL; left alone",
                               child->process.pid(), MemberName(child->who)));
  }
  for (const pid_t pid : orphans_.KillAll()) {
    console_.Print("killed process " + std::to_string(pid) + ", which a member had left behind");
  }
  ReapOrphans();
}

}  // namespace ringside
