#include "ringside/experiments/system/orphan_watch.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

#include "ringside/common/core/deadline.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

/// Ends the hunt for orphans that start others faster than they are killed.
constexpr int kMostRounds = 100;
constexpr std::chrono::seconds kReapTime{2};

// What a process inherits is a property of the whole process.
std::atomic<int> watches{0};
std::atomic<int> inherits_before{0};

std::string NewMark() {
  static std::atomic<int> number{0};
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return fmt::format("RINGSIDE_RUN_{}_{}_{}=1", ::getpid(), now, number.fetch_add(1));
}

/// What can be read: nothing of a process that goes meanwhile.
std::string ReadAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();  // unlike an iterator of the stream, it drops what a failed read throws
  return std::move(text).str();
}

/// -1 for a process that has gone.
pid_t ParentOf(const fs::path& process) {
  const std::string stat = ReadAll(process / "stat");
  // Field 2, the name, may hold anything; after its last bracket come the state and the parent.
  const std::size_t bracket = stat.rfind(')');
  constexpr std::size_t kToParent = 4;  // ") S "
  if (bracket == std::string::npos || bracket + kToParent >= stat.size()) return -1;
  pid_t parent = -1;
  std::from_chars(stat.data() + bracket + kToParent, stat.data() + stat.size(), parent);
  return parent;
}

bool HasMark(const fs::path& process, const std::string& mark) {
  const std::string environment = '\0' + ReadAll(process / "environ");
  return environment.find('\0' + mark + '\0') != std::string::npos;
}

/// This process's children with the mark. A zombie has no environment, so it is none of them.
std::vector<pid_t> MarkedChildren(const std::string& mark) {
  std::vector<pid_t> children;
  std::error_code error;  // /proc cannot be read: nothing can be found
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    pid_t pid = -1;
    const auto [rest, wrong] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (wrong != std::errc() || rest != name.data() + name.size()) continue;
    if (ParentOf(entry->path()) == ::getpid() && HasMark(entry->path(), mark)) {
      children.push_back(pid);
    }
  }
  return children;
}

/// Whether it has ended. One that is stuck in the kernel must not keep the run from its end.
bool Reap(pid_t pid) {
  const Deadline deadline = Deadline::After(kReapTime);
  while (true) {
    const pid_t reaped = ::waitpid(pid, nullptr, WNOHANG);
    if (reaped == pid) return true;
    if ((reaped < 0 && errno != EINTR) || deadline.expired()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

OrphanWatch::OrphanWatch() : mark_(NewMark()) {
  if (watches.fetch_add(1) != 0) return;
  int before = 0;
  // Here and below: it fails only for a bad address, or for an unknown request on a kernel that is
  // older than 3.4.
  static_cast<void>(::prctl(PR_GET_CHILD_SUBREAPER, &before));
  inherits_before = before;
  static_cast<void>(::prctl(PR_SET_CHILD_SUBREAPER, 1));
}

OrphanWatch::~OrphanWatch() {
  if (watches.fetch_sub(1) != 1) return;
  static_cast<void>(::prctl(PR_SET_CHILD_SUBREAPER, inherits_before.load()));
}

std::vector<pid_t> OrphanWatch::KillAll() const {
  std::vector<pid_t> killed;
  // The children of an orphan become this process's when it has died.
  for (int round = 0; round < kMostRounds; ++round) {
    const std::vector<pid_t> found = MarkedChildren(mark_);
    if (found.empty()) break;
    const std::size_t before = killed.size();
    for (const pid_t pid : found) {
      // It is a child that nobody else reaps, so no other process can have its number.
      if (::kill(pid, SIGKILL) != 0) continue;  // it has another user now
      if (Reap(pid)) killed.push_back(pid);
    }
    if (killed.size() == before) break;  // what is left cannot be killed
  }
  return killed;
}

}  // namespace ringside
