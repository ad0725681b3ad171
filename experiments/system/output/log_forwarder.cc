#include "ringside/experiments/system/output/log_forwarder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "ringside/experiments/system/files/trusted_path.h"

namespace ringside {
namespace {

constexpr std::size_t kMaxLineBytes = 16 << 10;
constexpr std::size_t kReadBytes = 16 << 10;
constexpr std::size_t kMostWaiting = std::size_t{1} << 20;

/// Takes the content of a full pipe, and its end.
int MaxReads(int fd) {
  constexpr int kReadSize = static_cast<int>(kReadBytes);
  const int bytes = ::fcntl(fd, F_GETPIPE_SZ);
  return ((bytes > 0 ? bytes : 64 << 10) + kReadSize - 1) / kReadSize + 1;
}

}  // namespace

LogForwarder::LogForwarder(int fd, const std::string& name, const std::string& path,
                           FileWriter& writer, Console& console, bool echo,
                           std::size_t max_file_bytes)
    : fd_(fd),
      prefix_(name.empty() ? "" : "[" + name + "] "),
      writer_(writer),
      file_bytes_left_(max_file_bytes),
      console_(console),
      echo_(echo) {
  if (!path.empty()) file_ = writer.Add(OpenForWriting(path, O_TRUNC | O_APPEND), path);
}

bool LogForwarder::ForwardAvailable() {
  TellOfLoss();
  if (open_ && !wants_input()) return true;
  return Forward();
}

bool LogForwarder::ForwardRest() {
  TellOfLoss();
  return Forward();
}

bool LogForwarder::wants_input() const {
  return open_ && (!file_ || writer_.Waiting(*file_) < kMostWaiting);
}

void LogForwarder::Drain() {
  writer_.Drain();
  TellOfLoss();
}

bool LogForwarder::Forward() {
  std::array<char, kReadBytes> buffer;
  const int max_reads = open_ ? MaxReads(fd_) : 0;
  for (int reads = 0; open_ && reads < max_reads; ++reads) {
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
  Write(text);
  std::string lines;
  for (const char character : text) {
    if (character == '\n') {
      EndLine(lines);
    } else if (line_.size() < kMaxLineBytes) {
      line_ += character;
    }
  }
  Show(lines);
}

void LogForwarder::Write(std::string_view text) {
  if (!file_ || cut_off_) return;
  const std::string_view fits = text.substr(0, file_bytes_left_);
  file_bytes_left_ -= fits.size();
  writer_.Append(*file_, std::string(fits));
  cut_off_ = fits.size() < text.size();
  if (cut_off_) {
    writer_.Append(*file_, "\n... the rest was cut off: a log file takes no more\n");
  }
}

void LogForwarder::TellOfLoss() {
  if (!file_) return;
  const std::string failure = writer_.Failure(*file_);
  if (failure.empty()) return;
  console_.Print("warning: " + failure + "; the rest of this log is lost");
  file_.reset();
}

void LogForwarder::EndLine(std::string& lines) {
  constexpr std::size_t kMaxLastLine = 200;
  if (echo_) lines += prefix_ + line_ + '\n';
  if (see_) see_(line_);
  if (!line_.empty()) last_line_ = line_.substr(0, kMaxLastLine);
  line_.clear();
}

void LogForwarder::Show(std::string& lines) {
  if (lines.empty()) return;
  lines.pop_back();  // the console adds the last newline
  console_.Print(lines);
}

void LogForwarder::Flush() {
  if (line_.empty()) return;
  std::string lines;
  EndLine(lines);
  Show(lines);
}

}  // namespace ringside
