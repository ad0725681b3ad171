// Walks down from the root, one open directory at a time. Names are never looked up twice, so a
// file cannot be replaced between two look-ups.
#include "ringside/experiments/system/files/sudo_ownership_transfer.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "ringside/common/base/file_descriptor.h"
#include "ringside/experiments/text/printable.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

std::optional<unsigned> Number(const Environment& environment, const char* name) {
  const auto found = environment.find(name);
  if (found == environment.end() || found->second.empty()) return std::nullopt;
  unsigned value = 0;
  const char* end = found->second.data() + found->second.size();
  const auto [stop, error] = std::from_chars(found->second.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::vector<std::string> NamesIn(int directory) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(
      ::fdopendir(::openat(directory, ".", kOpenDirectory)), &::closedir);
  while (const dirent* entry = stream ? ::readdir(stream.get()) : nullptr) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  return names;
}

bool IsBefore(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

/// One walk for one user. It throws only when memory runs out.
class Walk {
 public:
  Walk(const InvokingUser& user, const timespec& since) : user_(user), since_(since) {}

  /// Walks from / to `folder` and through all of it. Folders from `first_new` down are new.
  void Down(const fs::path& folder, const fs::path& first_new) {
    FileDescriptor here(::open("/", kOpenDirectory));
    fs::path path = "/";
    bool made = false;
    for (const fs::path& part : folder.relative_path()) {
      path /= part;
      made = made || path == first_new;
      here = Enter(here.get(), part, made);
      if (here.get() < 0) return;
    }
    if (IsUsers(here.get())) All(here.get());
  }

  const std::string& problem() const { return problem_; }

 private:
  bool IsUsers(int fd) const {
    struct stat status {};
    return ::fstat(fd, &status) == 0 && status.st_uid == user_.user;
  }

  /// True when root owns the file and it was made or written since construction. The user may
  /// rename an old file, which changes its st_ctim alone.
  bool IsOurs(const struct stat& status) const {
    return status.st_uid == 0 && !IsBefore(status.st_mtim, since_);
  }

  /// Opens the directory of that name, and gives it away if it may.
  FileDescriptor Enter(int parent, const fs::path& name, bool may_give) {
    FileDescriptor entered(::openat(parent, name.c_str(), kOpenDirectory));
    struct stat status {};
    if (entered.get() < 0 || ::fstat(entered.get(), &status) != 0) return entered;
    if (may_give && IsOurs(status)) Give(entered.get(), name);
    return entered;
  }

  /// Walks all entries of a directory that is the user's.
  void All(int directory) {
    struct stat own {};
    if (::fstat(directory, &own) != 0) return;
    for (const std::string& name : NamesIn(directory)) {
      struct stat status {};
      if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (status.st_dev != own.st_dev) continue;
      if (S_ISDIR(status.st_mode)) {
        const FileDescriptor entered = Enter(directory, name, true);
        if (entered.get() >= 0 && IsUsers(entered.get())) All(entered.get());
      } else if (S_ISREG(status.st_mode) && IsOurs(status)) {
        File(directory, name);
      }
    }
  }

  void File(int directory, const std::string& name) {
    const FileDescriptor file(
        ::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (file.get() < 0 || ::fstat(file.get(), &status) != 0) return;
    // Another hard link of the file may be anywhere.
    if (!S_ISREG(status.st_mode) || !IsOurs(status) || status.st_nlink != 1) return;
    Give(file.get(), name);
  }

  void Give(int fd, const fs::path& name) {
    if (::fchown(fd, user_.user, user_.group) == 0 || !problem_.empty()) return;
    problem_ = fmt::format("{}: {}", name.string(), std::strerror(errno));
  }

  const InvokingUser user_;
  const timespec since_;
  std::string problem_;  // the first one
};

/// Returns a time later than that of all files so far. Files that are written from now on have this
/// time or a later one. Waits for the next tick, because file times may be those of the last tick,
/// milliseconds ago.
timespec Boundary() {
  timespec now{}, tick{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ::clock_gettime(CLOCK_REALTIME_COARSE, &tick);
  } while (IsBefore(tick, now));
  return now;
}

/// The outermost part of a path that does not exist.
fs::path FirstNew(const fs::path& folder) {
  fs::path path;
  for (const fs::path& part : folder) {
    path /= part;
    std::error_code error;
    if (fs::symlink_status(path, error).type() == fs::file_type::not_found) return path;
  }
  return {};
}

}  // namespace

std::optional<InvokingUser> FindInvokingUser(const Environment& environment) {
  const auto user = Number(environment, "SUDO_UID");
  const auto group = Number(environment, "SUDO_GID");
  if (::geteuid() != 0 || !user || !group || *user == 0) return std::nullopt;
  return InvokingUser{*user, *group};
}

SudoOwnershipTransfer::SudoOwnershipTransfer(const fs::path& folder, const Environment& environment)
    : user_(FindInvokingUser(environment)) {
  if (!user_) return;
  since_ = Boundary();
  // Follows symbolic links on the way to the folder, as the writer of results does.
  folder_ = fs::weakly_canonical(fs::absolute(folder));
  if (!folder_.has_filename()) folder_ = folder_.parent_path();  // "results/"
  first_new_ = FirstNew(folder_);
}

SudoOwnershipTransfer::~SudoOwnershipTransfer() {
  if (!user_) return;
  try {
    Walk walk(*user_, since_);
    walk.Down(folder_, first_new_);
    if (walk.problem().empty()) return;
    PrintText(stderr, "ringside: not all results could be given to user {}: {}\n", user_->user,
              walk.problem());
  } catch (const std::exception& error) {
    std::fputs(Printable(error.what()).c_str(), stderr);
  }
}

}  // namespace ringside
