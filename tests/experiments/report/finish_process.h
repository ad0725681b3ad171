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

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_REPORT_FINISH_PROCESS_H_
