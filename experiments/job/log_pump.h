#ifndef RINGSIDE_EXPERIMENTS_JOB_LOG_PUMP_H_
#define RINGSIDE_EXPERIMENTS_JOB_LOG_PUMP_H_

#include <string>
#include <string_view>

#include "experiments/job/console.h"
#include "experiments/job/files.h"

namespace ringside {

/// Carries one child's output into its log file and, line by line and prefixed, onto the console.
/// Borrows the descriptor (non-blocking) and the console. Not thread-safe.
class LogPump {
 public:
  /// `name`: "worker 2"; empty: lines have their prefix already. An empty `path` writes no file;
  /// `echo` false prints nothing. Throws `DataError` when the file cannot be created.
  LogPump(int fd, const std::string& name, const std::string& path, Console& console, bool echo);

  /// Moves what is there; never waits. False once the child has closed its output.
  bool Pump();
  /// Prints a last line that has no end.
  void Flush();
  bool open() const { return open_; }
  int fd() const { return fd_; }

 private:
  void Take(std::string_view text);
  void PrintLine(std::string_view line);

  int fd_;
  std::string prefix_;
  FileDescriptor file_;
  Console& console_;
  bool echo_;
  bool open_ = true;
  std::string line_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_LOG_PUMP_H_
