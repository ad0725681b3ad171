#include "ringside/experiments/system/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>

#include "ringside/common/core/errors.h"
#include "ringside/common/core/file_descriptor.h"
#include "ringside/experiments/system/files.h"

namespace ringside {
namespace {

/// This user's id outside the user namespace.
uid_t OuterUser() {
  std::ifstream map("/proc/self/uid_map");
  for (std::uint64_t inside = 0, outside = 0, count = 0; map >> inside >> outside >> count;) {
    const std::uint64_t own = ::getuid();
    if (own >= inside && own - inside < count) return static_cast<uid_t>(outside + own - inside);
  }
  return ::getuid();
}

std::string DirectoryName(const Environment& environment) {
  const auto runtime = environment.find("XDG_RUNTIME_DIR");
  if (runtime != environment.end() && !runtime->second.empty()) {
    return runtime->second + "/ringside";
  }
  return "/tmp/ringside-" + std::to_string(OuterUser());
}

}  // namespace

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
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (fd.get() < 0 || ::fstat(fd.get(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode) || status.st_uid != ::getuid() || (status.st_mode & 077) != 0) {
    throw ConfigError(path + ": expected a file of this user's that nobody else can read (0600)");
  }
  return ReadDescriptor(fd.get(), max_bytes, path);
}

PrivateFile::PrivateFile(const Environment& environment, const std::string& content)
    : path_(PrivateDirectory(environment) + "/ranks-XXXXXX") {
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

}  // namespace ringside
