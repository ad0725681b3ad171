#include "ringside/experiments/system/log_forwarder.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "ringside/experiments/system/trusted_path.h"

namespace ringside {
namespace {

constexpr std::size_t kMaxLineBytes = 16 << 10;

}  // namespace

LogForwarder::LogForwarder(int fd, const std::string& name, const std::string& path,
                           Console& console, bool echo)
    : fd_(fd), prefix_(name.empty() ? "" : "[" + name + "] "), console_(console), echo_(echo) {
  if (path.empty()) return;
  file_ = OpenForWriting(path, O_TRUNC | O_APPEND);
}

bool LogForwarder::ForwardAvailable() {
  std::array<char, 16384> buffer;
  while (open_) {
    const ssize_t count = ::read(fd_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (count <= 0) {
      open_ = false;
      break;
    }
    Take({buffer.data(), static_cast<std::size_t>(count)});
  }
  return open_;
}

void LogForwarder::Take(std::string_view text) {
  // A full disk loses log lines but does not end the run.
  if (file_.get() >= 0 && ::write(file_.get(), text.data(), text.size()) < 0) file_.Close();
  for (const char character : text) {
    if (character == '\n') {
      PrintLine(line_);
      line_.clear();
    } else if (line_.size() < kMaxLineBytes) {
      line_ += character;
    }
  }
}

void LogForwarder::PrintLine(std::string_view line) {
  if (echo_) console_.Print(prefix_ + std::string(line));
}

void LogForwarder::Flush() {
  if (!line_.empty()) PrintLine(line_);
  line_.clear();
}

}  // namespace ringside
