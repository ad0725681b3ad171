#include "experiments/job/console.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace ringside {
namespace {

constexpr std::chrono::milliseconds kInPlaceInterval{100};
constexpr const char* kClearLine = "\r\033[K";

}  // namespace

Console::Options Console::ForStandardError(bool show_progress) {
  const char* term = std::getenv("TERM");
  const char* no_color = std::getenv("NO_COLOR");
  const bool plain = term == nullptr || std::string_view(term) == "dumb" ||
                     (no_color != nullptr && *no_color != '\0');
  return {.show_progress = show_progress, .in_place = !plain && ::isatty(STDERR_FILENO) == 1};
}

void Console::Print(const std::string& line) {
  if (progress_.empty()) {
    Write(line + "\n");
  } else {
    Write(kClearLine + line + "\n" + progress_);
  }
}

bool Console::ProgressDue() const {
  return options_.show_progress && std::chrono::steady_clock::now() >= next_progress_;
}

void Console::Progress(const std::string& line) {
  if (!ProgressDue()) return;
  next_progress_ = std::chrono::steady_clock::now() +
                   (options_.in_place ? kInPlaceInterval : options_.plain_interval);
  if (options_.in_place) {
    Write(kClearLine + line);
    progress_ = line;
  } else {
    Write(line + "\n");
  }
}

void Console::EndProgress() {
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
