#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_LOG_FORWARDER_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_LOG_FORWARDER_H_

#include <string>
#include <string_view>

#include "ringside/common/core/file_descriptor.h"
#include "ringside/experiments/system/console.h"

namespace ringside {

/// Copies one child's output to its log file, and to the console with a prefix before every line.
/// Borrows the descriptor (non-blocking) and the console. Not thread-safe.
class LogForwarder {
 public:
  /// `name` is the prefix, such as "worker 2"; empty when lines already have one. An empty `path`
  /// writes no file; `echo` false prints nothing. Throws `DataError` if the file cannot be created.
  LogForwarder(int fd, const std::string& name, const std::string& path, Console& console,
               bool echo);

  /// Copies the output that is there; never waits. Returns false when the child closed its output.
  bool ForwardAvailable();
  /// Prints a last line that has no newline.
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

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_LOG_FORWARDER_H_
