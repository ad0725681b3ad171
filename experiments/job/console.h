#ifndef RINGSIDE_EXPERIMENTS_JOB_CONSOLE_H_
#define RINGSIDE_EXPERIMENTS_JOB_CONSOLE_H_

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// Standard error shared by log lines and one progress line. On a terminal the progress line is
/// rewritten in place; elsewhere, and under NO_COLOR or TERM=dumb, it is a plain line every few
/// seconds. On a terminal a block of lines may stand above the progress line, rewritten in place as
/// well. Not thread-safe. Never throws: a closed standard error is no reason to end a run.
class Console {
 public:
  struct Options {
    bool show_progress = true;
    bool in_place = false;
    std::chrono::milliseconds plain_interval{5'000};
    int fd = 2;
  };
  /// What suits this process's standard error.
  static Options ForStandardError(bool show_progress);

  explicit Console(const Options& options) : options_(options) {}
  ~Console() { EndProgress(); }
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  /// `line` without a newline.
  void Print(const std::string& line);
  /// Shows `line` if it is time to; cheap otherwise.
  void Progress(const std::string& line);
  bool ProgressDue() const;
  /// What stands above the progress line from now on; nothing elsewhere than on a terminal. Lines
  /// are cut to the terminal's width, the block to its height.
  void SetBlock(std::vector<std::string> lines);
  bool in_place() const { return options_.in_place; }
  /// Leaves the progress line where it is, but takes it away from below a block; whatever comes
  /// next is on a line of its own.
  void EndProgress();

 private:
  void Write(const std::string& text) const;
  /// Goes back to where block and progress line began, and clears from there on.
  std::string Erasure() const;
  std::string Drawing();

  const Options options_;
  std::string progress_;            // what stands in place now
  std::vector<std::string> block_;  // what is to stand above it
  std::size_t drawn_ = 0;           // lines of the block that stand there now
  std::chrono::steady_clock::time_point next_progress_ = std::chrono::steady_clock::now();
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_CONSOLE_H_
