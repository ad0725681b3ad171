#ifndef RINGSIDE_EXPERIMENTS_MATRIX_DIRECTORY_LOCK_H_
#define RINGSIDE_EXPERIMENTS_MATRIX_DIRECTORY_LOCK_H_

#include <filesystem>

#include "experiments/job/files.h"

namespace ringside {

/// Keeps a second matrix (and `ringside index`) out of a directory as long as it lives; the kernel
/// lets go when the process dies, however it dies.
class DirectoryLock {
 public:
  /// Creates the directory. Throws `Error` when that cannot be, or another process holds it.
  explicit DirectoryLock(const std::filesystem::path& directory);

 private:
  FileDescriptor file_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MATRIX_DIRECTORY_LOCK_H_
