#ifndef RINGSIDE_TESTS_EXPERIMENTS_REPORT_FINISH_PROCESS_H_
#define RINGSIDE_TESTS_EXPERIMENTS_REPORT_FINISH_PROCESS_H_

#include <string>
#include <vector>

namespace ringside {

struct FinishedProcess {
  int exit_code = -1;  ///< -1: a signal ended it.
  std::string output;  ///< Both streams.
};

/// Runs a program until it ends. The test's own time limit applies.
FinishedProcess FinishProcess(const std::vector<std::string>& argv);

/// The last line of an output that ends with line breaks.
inline std::string LastLine(const std::string& text) {
  const std::string lines = text.substr(0, text.find_last_not_of('\n') + 1);
  return lines.substr(lines.rfind('\n') + 1);
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_REPORT_FINISH_PROCESS_H_
