#include "ringside/experiments/system/console.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "ringside/experiments/system/printable.h"

namespace ringside {
namespace {

constexpr std::chrono::milliseconds kInPlaceInterval{100};
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

}  // namespace

Console::Options Console::ForStandardError(bool show_progress) {
  const char* term = std::getenv("TERM");
  const char* no_color = std::getenv("NO_COLOR");
  const bool plain = term == nullptr || std::string_view(term) == "dumb" ||
                     (no_color != nullptr && *no_color != '\0');
  return {.show_progress = show_progress, .in_place = !plain && ::isatty(STDERR_FILENO) == 1};
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

void Console::Write(const std::string& text) const {
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t written = ::write(options_.fd, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    left.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace ringside
