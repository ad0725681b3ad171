#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_FILES_PRIVATE_FILE_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_FILES_PRIVATE_FILE_H_

#include <optional>
#include <string>
#include <string_view>

#include "ringside/experiments/system/environment/rank_environment.h"

namespace ringside {

/// Creates and returns a directory that only this user can enter: $XDG_RUNTIME_DIR/ringside if that
/// variable names a directory of this user's, or /tmp/ringside-UID. Throws `ConfigError` when
/// others may enter it.
std::string PrivateDirectory(const Environment& environment);

/// The content of a file that belongs to the user and that nobody else can read; absent when there
/// is no such file. Throws `ConfigError` when others can read it, `DataError` when it is longer
/// than `max_bytes`.
std::optional<std::string> ReadPrivateFile(const std::string& path, std::size_t max_bytes);

/// What the numbers of processes are relative to. Containers may share directories, but the process
/// 7 of one is not that of another.
std::string ProcessNamespace();

/// Removes what killed processes of this user left in a directory: files and directories that are
/// named `prefix`, the number of a process that does not exist, and a dash with anything after it.
void RemoveLeftovers(const std::string& directory, std::string_view prefix);

/// A file with a secret in `PrivateDirectory`, for processes that another program starts. It has
/// mode 0600 and a unique name. The destructor removes it; the next one removes those that killed
/// processes left.
class PrivateFile {
 public:
  PrivateFile(const Environment& environment, const std::string& content);
  ~PrivateFile();
  PrivateFile(const PrivateFile&) = delete;
  PrivateFile& operator=(const PrivateFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A directory in memory (/dev/shm, or `PrivateDirectory` where there is none) for the files of
/// another program. Only this user can enter it. The destructor removes it with all that is in it;
/// the next one removes those that killed processes left.
class ScratchDirectory {
 public:
  /// Throws `DataError` when it cannot be made.
  explicit ScratchDirectory(const Environment& environment);
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_FILES_PRIVATE_FILE_H_
