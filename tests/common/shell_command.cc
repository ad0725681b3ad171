#include "tests/common/shell_command.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>

namespace ringside {

ShellOutcome RunShell(const std::string& line) {
  ShellOutcome outcome;
  std::FILE* pipe = ::popen(("{ " + line + "\n} 2>&1").c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> piece;
  std::size_t count = 0;
  while ((count = std::fread(piece.data(), 1, piece.size(), pipe)) > 0) {
    outcome.output.append(piece.data(), count);
  }
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

}  // namespace ringside
