#ifndef RINGSIDE_TESTS_EXPERIMENTS_LAB_EMULATED_RUN_TESTING_H_
#define RINGSIDE_TESTS_EXPERIMENTS_LAB_EMULATED_RUN_TESTING_H_

#include <gtest/gtest.h>
#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ringside/experiments/system/processes/process.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"
#include "tests/experiments/lab/emulated_testing.h"

namespace ringside {

/// How a run of the command line ended.
struct RunResult {
  int exit_code = -1;  ///< -1: a signal ended it.
  std::string output;  ///< Both streams.
};

/// For tests that run the command line on emulated hosts. All files are in a scratch directory.
class EmulatedRunTest : public EmulatedTest {
 protected:
  void TearDown() override;

  /// Starts ringside with `args`, separated by spaces. Private files go to the scratch directory.
  Process Start(const std::string& args) const;
  static RunResult Finish(Process& process);
  /// Trains for a few steps and returns the summary.
  nlohmann::json Train(const std::string& args);
  /// Starts a run on two hosts and waits until its workers have taken a step.
  Process StartTraining();
  /// At the end of the test all processes that run now must have ended.
  void RememberMembers();

  /// Reads a file of the bundle.
  nlohmann::json Read(const std::string& name) const;
  std::string bundle() const { return scratch_.path() + "/run"; }

  const TemporaryDirectory scratch_;

 private:
  std::vector<pid_t> members_;
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_LAB_EMULATED_RUN_TESTING_H_
