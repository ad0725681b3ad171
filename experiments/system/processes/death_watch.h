#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_DEATH_WATCH_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_DEATH_WATCH_H_

#include <string>

#include "ringside/common/base/file_descriptor.h"
#include "ringside/experiments/system/processes/process.h"

namespace ringside {

/// Cleans up after this process if it is killed, when no destructor runs: kills the processes that
/// have a mark in their environment (`OrphanWatch::mark`), then removes a directory. The workers of
/// a killed launcher die with it (`DieWithParent`), but not what they have started.
///
/// A shell waits for that; "ringside-death-watch" is among its arguments. It needs grep and rm:
/// without them a killed process leaves what it leaves. The destructor calls it off.
class DeathWatch {
 public:
  /// `directory` may be empty. Throws `ResourceError` when there is no process for it, and
  /// `MissingBackendError` when there is no /bin/sh.
  explicit DeathWatch(const std::string& mark, const std::string& directory = "");

 private:
  struct Start;
  explicit DeathWatch(Start start);

  const FileDescriptor alive_;  // the other end of the shell's input: closed at the latest with us
  const Process shell_;         // last, so that it ends first
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_DEATH_WATCH_H_
