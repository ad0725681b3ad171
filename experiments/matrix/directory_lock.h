#ifndef RINGSIDE_EXPERIMENTS_MATRIX_DIRECTORY_LOCK_H_
#define RINGSIDE_EXPERIMENTS_MATRIX_DIRECTORY_LOCK_H_

#include <filesystem>

#include "ringside/common/base/file_descriptor.h"

namespace ringside {

/// A lock on a directory against a second matrix and `ringside index`, held until destruction. The
/// kernel releases it when the process dies for any reason.
class DirectoryLock {
 public:
  /// Creates the directory. Throws `Error` when that fails or another process has the lock.
  explicit DirectoryLock(const std::filesystem::path& directory);

 private:
  FileDescriptor file_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MATRIX_DIRECTORY_LOCK_H_
