#ifndef RINGSIDE_TESTS_COMMON_SHELL_COMMAND_H_
#define RINGSIDE_TESTS_COMMON_SHELL_COMMAND_H_

#include <string>

namespace ringside {

struct ShellOutcome {
  int exit_code = -1;  ///< -1: it did not start, or a signal ended it.
  std::string output;  ///< Standard output and standard error, as they came.
};

/// Runs a line of shell and waits for its end.
ShellOutcome RunShell(const std::string& line);

}  // namespace ringside

#endif  // RINGSIDE_TESTS_COMMON_SHELL_COMMAND_H_
