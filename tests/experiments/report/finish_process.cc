#include "tests/experiments/report/finish_process.h"

#include <poll.h>
#include <unistd.h>

#include <array>

#include "ringside/experiments/system/processes/process.h"

namespace ringside {

FinishedProcess FinishProcess(const std::vector<std::string>& argv) {
  Process process({.argv = argv});
  FinishedProcess finished;
  const auto read = [&](int wait_ms) {
    pollfd ready{process.output_fd(), POLLIN, 0};
    ::poll(&ready, 1, wait_ms);
    std::array<char, 4096> buffer;
    for (ssize_t count = 0;
         (count = ::read(process.output_fd(), buffer.data(), buffer.size())) > 0;) {
      finished.output.append(buffer.data(), static_cast<std::size_t>(count));
    }
  };
  while (!process.Poll()) read(50);
  read(0);
  if (process.Poll()->signal == 0) finished.exit_code = process.Poll()->code;
  return finished;
}

}  // namespace ringside
