#include "ringside/experiments/matrix/directory_lock.h"

#include <fmt/format.h>
#include <sys/file.h>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/files/trusted_path.h"

namespace ringside {

namespace fs = std::filesystem;

DirectoryLock::DirectoryLock(const fs::path& directory) {
  try {
    MakeDirectories(directory.string());
  } catch (const ConfigError& error) {
    throw Error(error.what());  // The spec is right; its results have no place.
  }
  file_ = OpenForWriting((directory / ".lock").string(), 0);
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    throw Error(fmt::format("another matrix is writing into {}", directory.string()));
  }
}

}  // namespace ringside
