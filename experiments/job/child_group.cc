#include "experiments/job/child_group.h"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>

#include "common/deadline.h"
#include "common/errors.h"
#include "models/model_table.h"

namespace ringside {
namespace {

bool NeedsLibtorch(const std::string& model) {
  const auto table = ModelTable();
  const auto found = std::ranges::find(table, model, &ModelEntry::name);
  return found != table.end() && found->needs_libtorch;
}

/// The executables lie beside each other. RINGSIDE_WORKER names another ringside-worker.
std::vector<std::string> CommandLine(const MemberSetup& setup) {
  std::vector<std::string> argv;
  if (setup.who.role == Role::kWorker && setup.bench) {
    argv = {DirectoryOfThisExecutable() + "/ringside", "bench-worker"};
  } else if (setup.who.role == Role::kWorker && NeedsLibtorch(setup.spec.model)) {
    const char* other = std::getenv("RINGSIDE_WORKER");
    argv = {other != nullptr ? other : DirectoryOfThisExecutable() + "/ringside-worker"};
  } else {
    argv = {DirectoryOfThisExecutable() + "/ringside",
            setup.who.role == Role::kWorker ? "worker" : "server"};
  }
  // The rank is there for those who read `ps`.
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

ChildGroup::Child::Child(const MemberSetup& setup, const Process::Options& process_options,
                         const std::string& log_path, Console& console, bool echo)
    : who(setup.who),
      process(process_options),
      log(process.output_fd(), MemberName(setup.who), log_path, console, echo) {}

void ChildGroup::Start(const MemberSetup& setup, int network_namespace) {
  children_.push_back(
      std::make_unique<Child>(setup,
                              Process::Options{.argv = CommandLine(setup),
                                               .secret_input = setup.ToJson(),
                                               .network_namespace = network_namespace},
                              LogPath(options_.log_dir, setup.who), console_, options_.echo));
}

void ChildGroup::WaitForInput(std::chrono::milliseconds wait, int fd) const {
  std::vector<pollfd> fds{{fd, POLLIN, 0}};
  for (const auto& child : children_) {
    if (child->log.open()) fds.push_back({child->log.fd(), POLLIN, 0});
  }
  ::poll(fds.data(), fds.size(), static_cast<int>(wait.count()));
}

void ChildGroup::Poll(std::chrono::milliseconds wait, int fd) {
  WaitForInput(wait, fd);
  for (const auto& child : children_) {
    child->log.Pump();
    if (!child->process.Poll()) continue;
    // What it wrote last.
    child->log.Pump();
    child->log.Flush();
  }
}

std::vector<ChildGroup::End> ChildGroup::TakeEnds() {
  std::vector<End> ends;
  for (const auto& child : children_) {
    if (child->end_taken || !child->process.Poll()) continue;
    child->end_taken = true;
    ends.push_back({child->who, child->process.pid(), *child->process.Poll()});
  }
  return ends;
}

bool ChildGroup::all_ended() const {
  return std::ranges::all_of(children_,
                             [](const auto& child) { return child->process.Poll().has_value(); });
}

std::vector<ChildGroup::Started> ChildGroup::started() const {
  std::vector<Started> all;
  for (const auto& child : children_) all.push_back({child->who, child->process.pid()});
  return all;
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
  // Nothing survives SIGKILL but for a moment in the kernel.
  while (!all_ended()) Poll(kTick, -1);
}

}  // namespace ringside
