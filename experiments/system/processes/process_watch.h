#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_PROCESS_WATCH_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_PROCESS_WATCH_H_

#include <sys/types.h>

#include "ringside/common/base/file_descriptor.h"

namespace ringside {

/// Sees the end of a process of this machine that somebody else has started and reaps. Holds on to
/// that process: another one that gets its number later is not taken for it. Used by one thread.
class ProcessWatch {
 public:
  explicit ProcessWatch(pid_t pid);

  /// Whether it has ended. Never waits. Always false where the kernel does not tell (before 5.3).
  bool HasEnded() const;

 private:
  FileDescriptor process_;  // readable when it has ended
  bool was_gone_ = false;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_PROCESS_WATCH_H_
