#include "ringside/experiments/system/files/trusted_path.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <deque>
#include <filesystem>
#include <system_error>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;  // As the kernel's limit.

/// Why a path cannot be walked; for this file alone.
struct WalkError {
  std::string reason;
};

/// Walks down one path. Throws `WalkError`.
class Walk {
 public:
  enum class Missing { kRefuse, kMake };

  Walk(const fs::path& directory, Missing missing) : missing_(missing) {
    here_ = OpenWithoutLinks(directory);
    if (here_.get() >= 0) return;
    Add(directory);
    here_ = Open(directory.is_absolute() ? "/" : ".");
    while (!parts_.empty()) {
      const std::string part = parts_.front();
      parts_.pop_front();
      Enter(part);
    }
  }

  FileDescriptor Take() { return std::move(here_); }

 private:
  [[noreturn]] static void Throw(int error, const std::string& part) {
    throw WalkError{std::string(std::strerror(error)) + " ('" + part + "')"};
  }

  /// The directory, if it is there and no part of its path is a symbolic link. Otherwise none, as
  /// under a kernel before Linux 5.6: then each part has to be looked at.
  static FileDescriptor OpenWithoutLinks(const fs::path& directory) {
    const std::string path = directory.empty() ? "." : directory.string();
    const open_how how{
        .flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .mode = 0, .resolve = RESOLVE_NO_SYMLINKS};
    const long fd = ::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof(how));
    return FileDescriptor(static_cast<int>(fd));
  }

  /// Adds the parts of a relative or absolute path in front of those that are left.
  void Add(const fs::path& path) {
    std::deque<std::string> parts;
    for (const fs::path& part : path.relative_path()) {
      if (!part.empty() && part != ".") parts.push_back(part.string());
    }
    parts_.insert(parts_.begin(), parts.begin(), parts.end());
  }

  static FileDescriptor Open(const std::string& path) {
    FileDescriptor fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (fd.get() < 0) Throw(errno, path);
    return fd;
  }

  FileDescriptor Look(const std::string& part) const {
    return FileDescriptor(::openat(here_.get(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  }

  void Enter(const std::string& part) {
    FileDescriptor next = Look(part);
    if (next.get() < 0 && errno == ENOENT && missing_ == Missing::kMake) {
      if (::mkdirat(here_.get(), part.c_str(), 0777) != 0 && errno != EEXIST) Throw(errno, part);
      // Files in it are synced with it, but not its own name.
      if (!SyncDirectory(here_.get())) Throw(errno, part);
      next = Look(part);
    }
    struct stat status {};
    if (next.get() < 0 || ::fstat(next.get(), &status) != 0) Throw(errno, part);
    if (S_ISLNK(status.st_mode)) return Follow(next, status, part);
    if (!S_ISDIR(status.st_mode)) Throw(ENOTDIR, part);
    here_ = std::move(next);
  }

  void Follow(const FileDescriptor& link, const struct stat& status, const std::string& part) {
    if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
      throw WalkError{"'" + part + "' is a symbolic link of user " + std::to_string(status.st_uid) +
                      ", which user " + std::to_string(::geteuid()) +
                      " does not follow; give the path that it leads to"};
    }
    if (++links_ > kMaxLinks) Throw(ELOOP, part);
    std::array<char, PATH_MAX> target;
    const ssize_t length = ::readlinkat(link.get(), "", target.data(), target.size());
    if (length < 0) Throw(errno, part);
    const fs::path path(std::string(target.data(), static_cast<std::size_t>(length)));
    Add(path);
    if (path.is_absolute()) here_ = Open("/");
  }

  const Missing missing_;
  std::deque<std::string> parts_;
  FileDescriptor here_;
  int links_ = 0;
};

}  // namespace

bool SyncDirectory(int directory) {
  const FileDescriptor fd(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A directory that may be written to but not read cannot be synced by its user.
  if (fd.get() < 0) return errno == EACCES;
  return ::fsync(fd.get()) == 0 || errno == EINVAL || errno == ENOTSUP;
}

TrustedPlace FindTrustedPlace(const std::string& path) {
  const fs::path whole(path);
  if (!whole.has_filename()) throw DataError(path, "names no file");
  try {
    return {Walk(whole.parent_path(), Walk::Missing::kRefuse).Take(), whole.filename().string()};
  } catch (const WalkError& error) {
    throw DataError(path, error.reason);
  }
}

void MakeDirectories(const std::string& path) {
  try {
    const Walk walk(path, Walk::Missing::kMake);
  } catch (const WalkError& error) {
    throw ConfigError(path + ": cannot create the directory: " + error.reason);
  }
}

FileDescriptor OpenForWriting(const std::string& path, int flags) {
  const TrustedPlace place = FindTrustedPlace(path);
  // A pipe without a reader would let a plain open wait for ever. Nothing is cut before it is known
  // to be a regular file.
  FileDescriptor fd(::openat(
      place.directory.get(), place.name.c_str(),
      O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (flags & ~O_TRUNC), 0644));
  struct stat status {};
  if (fd.get() < 0 && errno == ELOOP) {
    throw DataError(path, "cannot be written: it is a symbolic link");
  }
  if (fd.get() < 0 || ::fstat(fd.get(), &status) != 0) {
    throw DataError(path, std::string("cannot create: ") + std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) throw DataError(path, "cannot be written: it is no regular file");
  if (status.st_nlink > 1) throw DataError(path, "cannot be written: it has a second name");
  // Somebody may have removed one of two names in between. Then this name is gone or another
  // file's.
  struct stat named {};
  if (::fstatat(place.directory.get(), place.name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0 ||
      named.st_ino != status.st_ino || named.st_dev != status.st_dev) {
    throw DataError(path, "cannot be written: it was exchanged while it was opened");
  }
  if ((flags & O_TRUNC) != 0 && ::ftruncate(fd.get(), 0) != 0) {
    throw DataError(path, std::string("cannot be emptied: ") + std::strerror(errno));
  }
  return fd;
}

void RemoveFile(const std::string& path) {
  const TrustedPlace place = FindTrustedPlace(path);
  if (::unlinkat(place.directory.get(), place.name.c_str(), 0) != 0 && errno != ENOENT) {
    throw DataError(path, std::string("cannot be removed: ") + std::strerror(errno));
  }
}

void RemoveTree(const std::string& path) {
  const TrustedPlace place = FindTrustedPlace(path);
  // Leads to the open directory, wherever its path leads now.
  const fs::path directory = "/proc/self/fd/" + std::to_string(place.directory.get());
  std::error_code error;
  fs::remove_all(directory / place.name, error);
  if (error) throw DataError(path, "cannot be removed: " + error.message());
}

}  // namespace ringside
