#include "ringside/experiments/system/output/console.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/base/sigpipe_guard.h"
#include "ringside/experiments/text/printable.h"

namespace ringside {
namespace {

constexpr std::chrono::milliseconds kInPlaceInterval{100};
constexpr std::chrono::milliseconds kPatience{100};
constexpr const char* kClearLine = "\r\033[K";
constexpr const char* kClearBelow = "\033[J";

struct Screen {
  std::size_t rows = 24;
  std::size_t columns = 80;
};

Screen ScreenOf(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
  return {size.ws_row, size.ws_col};
}

// At most `columns` characters of UTF-8.
std::string Cut(const std::string& text, std::size_t columns) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U;
    if (begins && characters++ == columns) return text.substr(0, i);
  }
  return text;
}

bool IsFile(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

/// Opens the terminal of `fd` once more. A terminal may take fewer bytes than are written, and then
/// a write waits even after `poll`. O_NONBLOCK on `fd` itself would reach the shell, which shares
/// it. Empty if it is no terminal or cannot be opened; then `fd` is used.
FileDescriptor OpenTerminalOf(int fd) {
  if (::isatty(fd) != 1) return {};
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  return FileDescriptor(::open(path.c_str(), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
}

}  // namespace

bool WriteWithin(int fd, std::string_view text, std::chrono::milliseconds wait) {
  const SigpipeGuard guard;
  const Deadline deadline = Deadline::After(wait);
  while (!text.empty()) {
    pollfd room{fd, POLLOUT, 0};
    const int ready = ::poll(&room, 1, static_cast<int>(deadline.remaining().count()));
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) {
      if (deadline.expired()) return false;
      continue;
    }
    if ((room.revents & (POLLERR | POLLNVAL)) != 0) return false;  // the reader has gone
    // A pipe that is ready has room for so much; a longer write could wait.
    const std::size_t part = std::min<std::size_t>(text.size(), PIPE_BUF);
    const ssize_t written = ::write(fd, text.data(), part);
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) {
      if (deadline.expired()) return false;
      continue;
    }
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

Console::Options Console::ForStandardError(bool show_progress) {
  const char* term = std::getenv("TERM");
  const char* no_color = std::getenv("NO_COLOR");
  const bool plain = term == nullptr || std::string_view(term) == "dumb" ||
                     (no_color != nullptr && *no_color != '\0');
  return {.show_progress = show_progress, .in_place = !plain && ::isatty(STDERR_FILENO) == 1};
}

Console::Console(const Options& options)
    : options_(options), terminal_(OpenTerminalOf(options.fd)) {
  if (!IsFile(options.fd)) return;
  try {
    FileDescriptor copy(::fcntl(options.fd, F_DUPFD_CLOEXEC, 0));
    if (copy.get() < 0) return;
    file_id_ = file_.emplace().Add(std::move(copy), "standard error");
  } catch (const ResourceError&) {
    file_.reset();  // there is no thread, so this one writes
  }
}

void Console::Print(const std::string& text) {
  const std::string line = Printable(text);
  if (drawn_ > 0 || !block_.empty()) {
    const std::string erasure = Erasure();
    Write(erasure + line + "\n" + Drawing());
  } else if (progress_.empty()) {
    Write(line + "\n");
  } else {
    Write(kClearLine + line + "\n" + progress_);
  }
}

bool Console::ProgressDue() const {
  return options_.show_progress && std::chrono::steady_clock::now() >= next_progress_;
}

void Console::Progress(const std::string& text) {
  if (!ProgressDue()) return;
  const std::string line = Printable(text);
  next_progress_ = std::chrono::steady_clock::now() +
                   (options_.in_place ? kInPlaceInterval : options_.plain_interval);
  if (options_.in_place) {
    // Below a block the line must not wrap, because `Erasure` counts it as one line.
    progress_ = block_.empty() ? line : Cut(line, ScreenOf(options_.fd).columns - 1);
    Write(kClearLine + progress_);
  } else {
    Write(line + "\n");
  }
}

void Console::SetBlock(std::vector<std::string> lines) {
  if (!options_.in_place || !options_.show_progress) return;
  const std::string erasure = Erasure();
  block_ = std::move(lines);
  Write(erasure + Drawing());
}

std::string Console::Erasure() const {
  return (drawn_ > 0 ? fmt::format("\r\033[{}A", drawn_) : "\r") + kClearBelow;
}

std::string Console::Drawing() {
  const Screen screen = ScreenOf(options_.fd);
  // Leaves room for the progress line and one more.
  const std::size_t room = screen.rows > 3 ? screen.rows - 2 : 1;
  std::string text;
  drawn_ = 0;
  for (const std::string& line : block_) {
    const bool full = drawn_ + 1 == room && block_.size() > room;
    text += Cut(full ? fmt::format("... {} lines more", block_.size() - drawn_) : Printable(line),
                screen.columns - 1);
    text += '\n';
    ++drawn_;
    if (full) break;
  }
  return text + progress_;
}

void Console::EndProgress() {
  if (!block_.empty()) {
    const std::string erasure = Erasure();
    progress_.clear();
    Write(erasure + Drawing());
    return;
  }
  if (!progress_.empty()) Write("\n");
  progress_.clear();
}

void Console::Write(const std::string& text) {
  const std::string note = dropping_ ? "\n... nobody read this output; a part is left out\n" : "";
  const auto wait = dropping_ ? std::chrono::milliseconds(0) : kPatience;
  dropping_ = !WriteWithin(note + text, wait);
  if (dropping_) drawn_ = 0;  // what is shown now is not known
}

bool Console::WriteWithin(const std::string& text, std::chrono::milliseconds wait) {
  const int fd = terminal_.get() >= 0 ? terminal_.get() : options_.fd;
  if (!file_ || !file_->Failure(file_id_).empty()) return ringside::WriteWithin(fd, text, wait);
  if (!file_->DrainWithin({})) return false;  // what came before is still on its way
  file_->Append(file_id_, text);
  // It waits a little, so that what others write to this file comes behind.
  file_->DrainWithin(wait);
  return true;
}

}  // namespace ringside
