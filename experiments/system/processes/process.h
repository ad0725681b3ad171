#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_PROCESS_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ringside/common/base/file_descriptor.h"
#include "ringside/experiments/system/processes/oom_kills.h"

namespace ringside {

/// The descriptor from which a child reads `Process::Options::secret_input`.
constexpr int kSecretInputFd = 3;

/// How a process ended.
struct ProcessEnd {
  /// The code of a child that something else in this process has waited for.
  static constexpr int kUnknown = -1;

  int signal = 0;  ///< 0: it exited by itself, with `code`.
  int code = 0;
  /// It was killed by signal 9, and at most a few seconds before that the kernel killed a process
  /// of the machine for lack of memory.
  bool out_of_memory = false;
  /// "was killed by signal 9", "was killed by signal 9, perhaps because memory ran out", "exited
  /// with code 3", "ended, and its exit code is lost"
  std::string Text() const;
};

/// A child process that leads its own process group, started by posix_spawn from an argument array.
/// Its standard output and error come back through one pipe. Its standard input is /dev/null,
/// unless the options say otherwise. It inherits no other descriptor except the secret input. The
/// destructor kills and reaps the whole group, so no child outlives its owner's scope, unless the
/// kernel cannot end it within 2 s: one whose disk or file server does not answer. To end when its
/// owner dies, the child must call `DieWithParent`. Not thread-safe.
class Process {
 public:
  struct Options {
    std::vector<std::string> argv;           ///< argv[0] is the path of the executable.
    std::string secret_input{};              ///< Readable at `kSecretInputFd`; at most 64 KiB.
    std::string standard_input{};            ///< At most 64 KiB; empty: it is /dev/null.
    int input_fd = -1;                       ///< The child's standard input; -1: as above.
    int network_namespace = -1;              ///< Descriptor of the child's namespace; -1: ours.
    std::vector<std::string> environment{};  ///< "NAME=value": besides ours, or instead.
  };

  /// Starts the child. Throws `MissingBackendError` when there is no such program, or none that can
  /// be started; `ResourceError` when there is no descriptor, process or memory for it.
  explicit Process(const Options& options);
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  pid_t pid() const { return pid_; }
  /// The child's output; non-blocking. It ends when every process of the group has closed it.
  int output_fd() const { return output_.get(); }

  /// Reaps the child if it has ended, and kills the rest of its group. Never waits. Call it several
  /// times a second.
  const std::optional<ProcessEnd>& Poll();
  /// Sends a signal to the whole group. Does nothing when the child has been reaped.
  void Signal(int signal) const noexcept;

 private:
  void Reap() noexcept;

  RecentOomKills oom_kills_;
  pid_t pid_ = -1;
  FileDescriptor output_;
  std::optional<ProcessEnd> end_;
};

/// Lets SIGKILL end this process when the thread that started it dies, or at once if it has died
/// already. Call in the first lines of a child's main. `parent` is the pid of the starting process.
void DieWithParent(pid_t parent);

/// The path of this executable.
std::string ThisExecutable();
/// The directory of this executable.
std::string DirectoryOfThisExecutable();

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_PROCESS_H_
