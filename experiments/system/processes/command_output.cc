#include "ringside/experiments/system/processes/command_output.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <optional>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/killed_program_error.h"
#include "ringside/experiments/system/processes/process.h"

namespace ringside {
namespace {

constexpr int kTickMs = 10;
constexpr std::size_t kMaxOutputBytes = 16 << 20;
constexpr int kMaxReads = 1024;

void ReadAvailable(int fd, std::string& output) {
  std::array<char, 4096> buffer;
  // The rest of a command that writes without end comes with the next tick, or never.
  for (int reads = 0; reads < kMaxReads; ++reads) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count <= 0) return;
    if (output.size() < kMaxOutputBytes) {
      output.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }
}

}  // namespace

std::string OutputOf(const std::vector<std::string>& argv, const Deadline& deadline) {
  Process process({.argv = argv});
  std::string output;
  while (!process.Poll()) {
    if (deadline.expired()) {
      throw MissingBackendError(argv.front() + " did not end in time; it wrote: " + output);
    }
    pollfd readable{process.output_fd(), POLLIN, 0};
    ::poll(&readable, 1, kTickMs);  // If it fails, this round was shorter.
    ReadAvailable(process.output_fd(), output);
  }
  ReadAvailable(process.output_fd(), output);
  const std::optional<ProcessEnd> end = process.Poll();
  if (end && end->signal != 0) {
    throw KilledProgramError(fmt::format("{} {}: {}", argv.front(), end->Text(), output));
  }
  if (!end || end->code != 0) {
    throw MissingBackendError(argv.front() + " " + (end ? end->Text() : "has not ended") + ": " +
                              output);
  }
  return output;
}

}  // namespace ringside
