#include "ringside/experiments/system/files/private_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/experiments/system/files/files.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

/// This user's id outside the user namespace.
uid_t OuterUser() {
  std::ifstream map("/proc/self/uid_map");
  for (std::uint64_t inside = 0, outside = 0, count = 0; map >> inside >> outside >> count;) {
    const std::uint64_t own = ::getuid();
    if (own >= inside && own - inside < count) return static_cast<uid_t>(outside + own - inside);
  }
  return ::getuid();
}

/// Under sudo the variable may name a directory of the user who called it. That user could exchange
/// everything in it.
bool IsAnotherUsers(const std::string& directory) {
  struct stat status {};
  return ::stat(directory.c_str(), &status) == 0 && status.st_uid != ::getuid();
}

std::string DirectoryName(const Environment& environment) {
  const auto runtime = environment.find("XDG_RUNTIME_DIR");
  if (runtime != environment.end() && !runtime->second.empty() &&
      !IsAnotherUsers(runtime->second)) {
    return runtime->second + "/ringside";
  }
  return "/tmp/ringside-" + std::to_string(OuterUser());
}

/// Returns PID of a name PREFIX-PID-NAME, or -1 for any other name.
pid_t OwnerOf(const std::string& name, std::string_view prefix) {
  pid_t pid = -1;
  if (!name.starts_with(prefix)) return -1;
  const char* begin = name.data() + prefix.size();
  const char* end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(begin, end, pid);
  return error == std::errc() && rest != end && *rest == '-' ? pid : -1;
}

bool BelongsToThisUser(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && status.st_uid == ::getuid();
}

}  // namespace

std::string ProcessNamespace() {
  struct stat status {};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? std::to_string(status.st_ino) : "0";
}

std::string PrivateDirectory(const Environment& environment) {
  std::string path = DirectoryName(environment);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    throw ConfigError(path + ": cannot create the directory: " + std::strerror(errno));
  }
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
      status.st_uid != ::getuid() || (status.st_mode & 077) != 0) {
    throw ConfigError(path + ": expected a directory of this user's, with mode 0700");
  }
  return path;
}

std::optional<std::string> ReadPrivateFile(const std::string& path, std::size_t max_bytes) {
  // A pipe would let a plain open wait.
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (fd.get() < 0 || ::fstat(fd.get(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode) || status.st_uid != ::getuid() || (status.st_mode & 077) != 0) {
    throw ConfigError(path + ": expected a file of this user's that nobody else can read (0600)");
  }
  return ReadDescriptor(fd.get(), max_bytes, path);
}

void RemoveLeftovers(const std::string& directory, std::string_view prefix) {
  std::error_code ignored;  // What cannot be removed stays.
  std::error_code end_of_list;
  for (fs::directory_iterator entry(directory, end_of_list), end; !end_of_list && entry != end;
       entry.increment(end_of_list)) {
    const pid_t owner = OwnerOf(entry->path().filename(), prefix);
    if (owner <= 0 || !BelongsToThisUser(entry->path())) continue;
    if (::kill(owner, 0) != 0 && errno == ESRCH) fs::remove_all(entry->path(), ignored);
  }
}

PrivateFile::PrivateFile(const Environment& environment, const std::string& content) {
  const std::string prefix = fmt::format("ranks-{}-", ProcessNamespace());
  const std::string directory = PrivateDirectory(environment);
  RemoveLeftovers(directory, prefix);
  path_ = fmt::format("{}/{}{}-XXXXXX", directory, prefix, ::getpid());
  const FileDescriptor reserved(::mkostemp(path_.data(), O_CLOEXEC));
  if (reserved.get() < 0) throw DataError(path_, std::string("cannot create: ") + strerror(errno));
  try {
    WriteFileAtomically(path_, content, 0600);
  } catch (...) {
    ::unlink(path_.c_str());
    throw;
  }
}

PrivateFile::~PrivateFile() { ::unlink(path_.c_str()); }

ScratchDirectory::ScratchDirectory(const Environment& environment) {
  constexpr const char* kMemory = "/dev/shm";
  const bool has_memory = ::access(kMemory, W_OK | X_OK) == 0;
  const std::string directory = has_memory ? kMemory : PrivateDirectory(environment);
  const std::string prefix = fmt::format("ringside-{}-{}-", ::getuid(), ProcessNamespace());
  RemoveLeftovers(directory, prefix);
  path_ = fmt::format("{}/{}{}-XXXXXX", directory, prefix, ::getpid());
  // Its mode is 0700.
  if (::mkdtemp(path_.data()) == nullptr) {
    throw DataError(path_, std::string("cannot create: ") + std::strerror(errno));
  }
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;  // What cannot be removed stays until the next one.
  fs::remove_all(path_, ignored);
}

}  // namespace ringside
