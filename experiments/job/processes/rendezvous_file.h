#ifndef RINGSIDE_EXPERIMENTS_JOB_PROCESSES_RENDEZVOUS_FILE_H_
#define RINGSIDE_EXPERIMENTS_JOB_PROCESSES_RENDEZVOUS_FILE_H_

#include <string>

#include "ringside/common/base/deadline.h"
#include "ringside/experiments/system/environment/rank_environment.h"

namespace ringside {

/// The address of a job's coordinator, and the job's secret.
struct RendezvousInfo {
  std::string target;
  std::string token;
};

/// A file by which the ranks of one machine find rank 0, in the user's private directory
/// (private_file.h). The job's key names the file, and only the user can read it. It contains the
/// writer's process id and start time, so that readers ignore the file of a dead job.
class RendezvousFile {
 public:
  /// Publishes `rendezvous` for this process, and removes the files of dead jobs. Throws
  /// `ConfigError` when a live process has published a file with the same key, or the directory
  /// belongs to another user.
  RendezvousFile(const Environment& environment, const std::string& key,
                 const RendezvousInfo& rendezvous);
  /// Removes the file.
  ~RendezvousFile();
  RendezvousFile(const RendezvousFile&) = delete;
  RendezvousFile& operator=(const RendezvousFile&) = delete;

  /// Waits until a live process has published the file. Throws `CommError` at the deadline.
  static RendezvousInfo Wait(const Environment& environment, const std::string& key,
                             const Deadline& deadline);

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Reads the token from a file that only its owner can read. Throws `ConfigError`.
std::string ReadTokenFile(const std::string& path);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_PROCESSES_RENDEZVOUS_FILE_H_
