#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_OUTPUT_LOG_FORWARDER_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_OUTPUT_LOG_FORWARDER_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ringside/experiments/system/files/file_writer.h"
#include "ringside/experiments/system/output/console.h"

namespace ringside {

/// Enough for the longest runs. A child that writes without end must not fill the disk.
inline constexpr std::size_t kMaxLogFileBytes = std::size_t{256} << 20;

/// Copies one child's output to its log file, and to the console with a prefix before every line.
/// Borrows the descriptor (non-blocking), the console and the writer. Not thread-safe.
class LogForwarder {
 public:
  /// `name` is the prefix, such as "worker 2"; empty when lines already have one. An empty `path`
  /// writes no file; `echo` false prints nothing. The file takes about `max_file_bytes`. Throws
  /// `DataError` if the file cannot be created, `ResourceError` if there is no thread to write it.
  LogForwarder(int fd, const std::string& name, const std::string& path, FileWriter& writer,
               Console& console, bool echo, std::size_t max_file_bytes = kMaxLogFileBytes);
  /// From now on `see` gets every line, cut if it is long.
  void OnLine(std::function<void(const std::string&)> see) { see_ = std::move(see); }

  /// Copies output that is there, at most what a pipe holds; never waits for more, nor for the
  /// disk. So the caller goes on while a child writes without end. Leaves the output in the pipe
  /// unless `wants_input`. Returns false when the child closed its output.
  bool ForwardAvailable();
  /// The same of a child that has ended, and which therefore cannot wait for the disk.
  bool ForwardRest();
  /// Whether the child's output is open, and little of it waits for the disk. If much waits, the
  /// child has to wait, too.
  bool wants_input() const;
  /// Waits until the file has everything that was forwarded, and says so if it lacks something.
  void Drain();
  /// Prints a last line that has no newline.
  void Flush();
  int fd() const { return fd_; }
  /// The last line that is not empty; cut if it is long.
  const std::string& last_line() const { return last_line_; }

 private:
  bool Forward();
  void Take(std::string_view text);
  /// Appends to the file, up to its size limit.
  void Write(std::string_view text);
  /// Says once that the file lacks something. A full disk loses log lines but does not end the run.
  void TellOfLoss();
  /// Adds the line to `lines`, if the console is to show it.
  void EndLine(std::string& lines);
  void Show(std::string& lines);

  int fd_;
  std::string prefix_;
  FileWriter& writer_;
  std::optional<FileWriter::FileId> file_;  // none: there is none, or its loss has been told
  std::size_t file_bytes_left_;
  bool cut_off_ = false;
  Console& console_;
  bool echo_;
  bool open_ = true;
  std::string line_;
  std::string last_line_;
  std::function<void(const std::string&)> see_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_OUTPUT_LOG_FORWARDER_H_
