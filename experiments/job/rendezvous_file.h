#ifndef RINGSIDE_EXPERIMENTS_JOB_RENDEZVOUS_FILE_H_
#define RINGSIDE_EXPERIMENTS_JOB_RENDEZVOUS_FILE_H_

#include <string>

#include "common/deadline.h"
#include "experiments/job/rank_environment.h"

namespace ringside {

/// Where a job's coordinator is, and its secret.
struct Meeting {
  std::string target;
  std::string token;
};

/// A file through which the ranks of one machine find rank 0, in the user's private directory
/// (private_file.h). It is named by the job and readable by the user alone; it names the process
/// that wrote it, so one that a dead job left is known as such.
class RendezvousFile {
 public:
  /// Publishes `meeting` for this process. Throws `ConfigError` when a live process has published
  /// one of the same key, or the directory is not the user's own.
  RendezvousFile(const Environment& environment, const std::string& key, const Meeting& meeting);
  /// Removes it.
  ~RendezvousFile();
  RendezvousFile(const RendezvousFile&) = delete;
  RendezvousFile& operator=(const RendezvousFile&) = delete;

  /// Waits until a live process has published. Throws `CommError` when the deadline passes.
  static Meeting Wait(const Environment& environment, const std::string& key,
                      const Deadline& deadline);

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The token in a file that only its owner can read. Throws `ConfigError`.
std::string ReadTokenFile(const std::string& path);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_RENDEZVOUS_FILE_H_
