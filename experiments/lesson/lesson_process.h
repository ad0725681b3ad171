#ifndef RINGSIDE_EXPERIMENTS_LESSON_LESSON_PROCESS_H_
#define RINGSIDE_EXPERIMENTS_LESSON_LESSON_PROCESS_H_

#include <functional>
#include <string>
#include <vector>

#include "ringside/common/base/deadline.h"
#include "ringside/experiments/system/processes/process.h"
#include "ringside/experiments/system/processes/signal_watch.h"

namespace ringside {

enum class LessonStatus { kDone, kTimedOut, kInterrupted };

/// One run of a lesson as a child process, with what it printed. It ends with this object. Not
/// thread-safe.
class LessonProcess {
 public:
  explicit LessonProcess(const std::vector<std::string>& argv) : process_({.argv = argv}) {}

  /// Waits until the process ends, and calls `tick` some times a second. At a signal or at the
  /// deadline it ends the process: first by SIGINT, which lets a run end its own processes.
  LessonStatus Wait(SignalWatch& signals, const Deadline& deadline,
                    const std::function<void()>& tick);

  pid_t pid() const { return process_.pid(); }
  /// Output and errors, as they came.
  const std::string& output() const { return output_; }
  /// The exit code; 128 plus the signal that killed it; -1 if the kernel could not end it. Call it
  /// after `Wait`.
  int exit_code();

 private:
  void Read(int signal_fd);
  void End();

  Process process_;
  std::string output_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LESSON_LESSON_PROCESS_H_
