#ifndef RINGSIDE_EXPERIMENTS_JOB_PRIVATE_FILE_H_
#define RINGSIDE_EXPERIMENTS_JOB_PRIVATE_FILE_H_

#include <optional>
#include <string>

#include "experiments/job/rank_environment.h"

namespace ringside {

/// A directory that is the user's alone: $XDG_RUNTIME_DIR/ringside, or /tmp/ringside-UID. Creates
/// it. Throws `ConfigError` when others may enter it.
std::string PrivateDirectory(const Environment& environment);

/// The content of a file that belongs to the user and that nobody else can read; nothing when there
/// is no such file. Throws `ConfigError` when it is open to others, `DataError` when it is longer
/// than `max_bytes`.
std::optional<std::string> ReadPrivateFile(const std::string& path, std::size_t max_bytes);

/// A file with a secret, in that directory, for processes that others start for us: mode 0600,
/// under a name of its own, removed at destruction.
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

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_PRIVATE_FILE_H_
