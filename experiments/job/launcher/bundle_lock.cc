#include "ringside/experiments/job/launcher/bundle_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/files/trusted_path.h"

namespace ringside {

FileDescriptor LockBundle(const std::string& directory) {
  const TrustedPlace place = FindTrustedPlace(directory + "/.");
  FileDescriptor file(::openat(place.directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.get() < 0) {
    throw DataError(directory, fmt::format("cannot open: {}", std::strerror(errno)));
  }
  // Another error says that this file system cannot lock a directory.
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw Error(fmt::format("another run is writing into {}", directory));
  }
  return file;
}

}  // namespace ringside
