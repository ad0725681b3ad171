#ifndef RINGSIDE_EXPERIMENTS_JOB_PROCESS_H_
#define RINGSIDE_EXPERIMENTS_JOB_PROCESS_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "experiments/job/files.h"

namespace ringside {

/// Where a child finds what `Process::Options::secret_input` held.
constexpr int kSecretInputFd = 3;

/// How a process ended.
struct ProcessEnd {
  int signal = 0;  ///< 0: it exited by itself, with `code`.
  int code = 0;
  /// "was killed by signal 9", "exited with code 3"
  std::string Text() const;
};

/// A child process, leader of a process group of its own, started by posix_spawn from an argument
/// array. Its standard output and error come back through one pipe; descriptors other than these,
/// standard input (/dev/null) and the secret input are closed in it. Destruction kills the whole
/// group and reaps it, so no child outlives its owner's scope; that the owner's own death ends the
/// child is the child's part (`DieWithParent`). Not thread-safe.
class Process {
 public:
  struct Options {
    std::vector<std::string> argv;  ///< argv[0] is the path of the executable.
    std::string secret_input{};     ///< Readable at `kSecretInputFd`; at most 64 KiB.
    int network_namespace = -1;     ///< Descriptor of the one that it starts in; -1: this one's.
  };

  /// Throws `MissingBackendError` when the executable cannot be started.
  explicit Process(const Options& options);
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  pid_t pid() const { return pid_; }
  /// Non-blocking; end of file once everybody in the group has closed it.
  int output_fd() const { return output_.get(); }

  /// Reaps it if it has ended; then the rest of its group is killed. Never waits.
  const std::optional<ProcessEnd>& Poll();
  /// To the whole group. Nothing when the process has been reaped.
  void Signal(int signal) const noexcept;

 private:
  void Reap(int wait_options) noexcept;

  pid_t pid_ = -1;
  FileDescriptor output_;
  std::optional<ProcessEnd> end_;
};

/// For the first lines of a child's main: SIGKILL when the thread that started it dies, and at once
/// when that has happened already. `parent` is the pid of who started it.
void DieWithParent(pid_t parent);

/// Directory of this executable.
std::string DirectoryOfThisExecutable();

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_PROCESS_H_
