#include "ringside/experiments/matrix/directory_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "ringside/common/core/errors.h"

namespace ringside {

namespace fs = std::filesystem;

DirectoryLock::DirectoryLock(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    throw Error(
        fmt::format("{}: cannot create the directory: {}", directory.string(), error.message()));
  }
  const std::string path = (directory / ".lock").string();
  file_ = FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (file_.get() < 0) {
    throw Error(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  }
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    throw Error(fmt::format("another matrix is writing into {}", directory.string()));
  }
}

}  // namespace ringside
