#include "ringside/experiments/system/processes/orphan_watch.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

#include "ringside/common/base/deadline.h"

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

struct Child {
  pid_t pid = -1;
  pid_t group = -1;
  pid_t session = -1;
  bool ended = false;  ///< Nobody has reaped it.
  fs::path folder{};
};

/// If that process is a child of this one.
std::optional<Child> ReadChild(const fs::path& process) {
  const std::string stat = ReadAll(process / "stat");
  // Field 2, the name, may hold anything; after its last bracket come the state, the parent, the
  // group and the session.
  const std::size_t bracket = stat.rfind(')');
  if (bracket == std::string::npos) return std::nullopt;
  std::istringstream fields(stat.substr(bracket + 1));
  char state = 'X';
  pid_t parent = -1;
  Child child{.folder = process};
  if (!(fields >> state >> parent >> child.group >> child.session)) return std::nullopt;
  if (parent != ::getpid()) return std::nullopt;
  child.ended = state == 'Z' || state == 'X';
  return child;
}

std::vector<Child> Children() {
  std::vector<Child> children;
  std::error_code error;  // /proc cannot be read: nothing can be found
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    pid_t pid = -1;
    const auto [rest, wrong] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (wrong != std::errc() || rest != name.data() + name.size()) continue;
    std::optional<Child> child = ReadChild(entry->path());
    if (!child) continue;
    child->pid = pid;
    children.push_back(*std::move(child));
  }
  return children;
}

std::vector<Child> LivingChildren() {
  std::vector<Child> children = Children();
  std::erase_if(children, [](const Child& child) { return child.ended; });
  return children;
}

/// Asks the kernel, which takes no time where there is none. Children of others count, too.
bool HasEndedChild() {
  siginfo_t ended{};
  return ::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0;
}

bool HasMark(const Child& child, const std::string& mark) {
  const std::string environment = '\0' + ReadAll(child.folder / "environ");
  return environment.find('\0' + mark + '\0') != std::string::npos;
}

/// A process that this one has started itself leads its group (`Process`), or is a fork that stays
/// here. The kernel lets no leader of a group leave its session. So this one was started by a
/// descendant, and has been inherited.
bool IsOfAnotherSession(const Child& child) { return child.session != ::getsid(0); }

/// Whether what it leaves behind may be none of a run's: it is of another session, or it was
/// started by the shell that has become this program, as a script's background job.
bool IsOfOthers(const Child& child) {
  return IsOfAnotherSession(child) || child.group != child.pid;
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
  int before = 0;
  // Here and below: it fails only for a bad address, or for an unknown request on a kernel that is
  // older than 3.4.
  static_cast<void>(::prctl(PR_GET_CHILD_SUBREAPER, &before));
  if (watches.fetch_add(1) == 0) {
    inherits_before = before;
    static_cast<void>(::prctl(PR_SET_CHILD_SUBREAPER, 1));
  }
  // Otherwise the orphans of others may come, too: those of a container, or of what has run in this
  // process before it became this program.
  takes_unmarked_ =
      ::getpid() != 1 && inherits_before == 0 && std::ranges::none_of(LivingChildren(), IsOfOthers);
}

OrphanWatch::~OrphanWatch() {
  if (watches.fetch_sub(1) != 1) return;
  static_cast<void>(::prctl(PR_SET_CHILD_SUBREAPER, inherits_before.load()));
}

bool OrphanWatch::TakesUnmarked() const {
  // With another watch it may be one of that watch.
  return takes_unmarked_ && watches == 1;
}

std::vector<pid_t> OrphanWatch::Orphans() const {
  std::vector<pid_t> orphans;
  for (const Child& child : LivingChildren()) {
    if ((TakesUnmarked() && IsOfAnotherSession(child)) || HasMark(child, mark_)) {
      orphans.push_back(child.pid);
    }
  }
  return orphans;
}

std::vector<pid_t> OrphanWatch::KillAll() const {
  std::vector<pid_t> killed;
  // The children of an orphan become this process's when it has died.
  for (int round = 0; round < kMostRounds; ++round) {
    const std::vector<pid_t> found = Orphans();
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

void OrphanWatch::ReapEnded(std::span<const pid_t> started) const {
  if (!HasEndedChild()) return;
  const auto is_started = [&](pid_t pid) {
    return std::ranges::find(started, pid) != started.end();
  };
  for (const Child& child : Children()) {
    if (!child.ended || is_started(child.pid)) continue;
    const bool left_behind =
        is_started(child.group) || (TakesUnmarked() && IsOfAnotherSession(child));
    // If it fails, somebody else has reaped it.
    if (left_behind) static_cast<void>(::waitpid(child.pid, nullptr, WNOHANG));
  }
}

}  // namespace ringside
