#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_OUTPUT_CONSOLE_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_OUTPUT_CONSOLE_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/common/base/file_descriptor.h"
#include "ringside/experiments/system/files/file_writer.h"

namespace ringside {

/// Writes `text` if `fd` takes it within `wait`, whether the descriptor blocks or not: a full pipe
/// that nobody reads, or a terminal stopped by Ctrl-S, cannot hold the caller for longer. Returns
/// whether all of it was written; a part may have been.
bool WriteWithin(int fd, std::string_view text, std::chrono::milliseconds wait);

/// Standard error shared by log lines and one progress line. On a terminal the progress line is
/// rewritten in place, and so is an optional block of lines above it. Elsewhere, and with NO_COLOR
/// or TERM=dumb, progress is a plain line every few seconds. Makes all text `Printable`. Not
/// thread-safe. Never throws, because a closed standard error must not end a run.
///
/// It is for what may be left out: progress and forwarded lines, which are in files as well. If
/// nobody reads, it waits once for a tenth of a second. It then drops everything until somebody
/// reads again, and says that it has dropped something. A file on a disk that does not answer is
/// treated alike. The result of a command is not written here.
class Console {
 public:
  struct Options {
    bool show_progress = true;
    bool in_place = false;
    std::chrono::milliseconds plain_interval{5'000};
    int fd = 2;
  };
  /// The options that fit this process's standard error.
  static Options ForStandardError(bool show_progress);

  explicit Console(const Options& options);
  ~Console() { EndProgress(); }
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  /// Prints a line, or several.
  void Print(const std::string& text);
  /// Shows the progress line if the next one is due; cheap otherwise.
  void Progress(const std::string& text);
  bool ProgressDue() const;
  /// Sets the block above the progress line. It is shown on a terminal only. Lines are cut to the
  /// terminal's width, the block to its height.
  void SetBlock(std::vector<std::string> lines);
  bool in_place() const { return options_.in_place; }
  /// Ends the progress line, so that later output starts on a new line. Leaves the line on screen,
  /// but removes it below a block.
  void EndProgress();

 private:
  void Write(const std::string& text);
  bool WriteWithin(const std::string& text, std::chrono::milliseconds wait);
  /// The codes that move to the start of block and progress line, and clear the screen from there.
  std::string Erasure() const;
  std::string Drawing();

  const Options options_;
  FileDescriptor terminal_;         // the same terminal, opened so that writes do not wait
  std::optional<FileWriter> file_;  // of a standard error that is a file
  FileWriter::FileId file_id_ = 0;
  bool dropping_ = false;           // nobody has read the last text
  std::string progress_;            // what the terminal shows now
  std::vector<std::string> block_;  // what to show above it
  std::size_t drawn_ = 0;           // lines of the block that are shown now
  std::chrono::steady_clock::time_point next_progress_ = std::chrono::steady_clock::now();
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_OUTPUT_CONSOLE_H_
