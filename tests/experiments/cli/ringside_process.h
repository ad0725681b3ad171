#ifndef RINGSIDE_TESTS_EXPERIMENTS_CLI_RINGSIDE_PROCESS_H_
#define RINGSIDE_TESTS_EXPERIMENTS_CLI_RINGSIDE_PROCESS_H_

#include <gtest/gtest.h>

#include <string>

#include "tests/common/temporary_directory.h"

namespace ringside {

/// The result of a finished `ringside` process.
struct ProcessResult {
  int exit_code = -1;  ///< 128 + signal if a signal ended it.
  std::string out;
  std::string err;
};

/// A test with its own scratch directory, which is removed at the end.
class RingsideProcessTest : public ::testing::Test {
 protected:
  const std::string& scratch() const { return scratch_.path(); }
  /// Runs the real executable of this build, through the shell and in the scratch directory, with
  /// `variables` ("A=b C=d") in its environment.
  ProcessResult RunRingside(const std::string& args, const std::string& variables = "") const;
  /// The same with a program that commits the fault RINGSIDE_FAULT (tests/faults/planned_fault.h).
  ProcessResult RunWithFault(const std::string& args, const std::string& fault,
                             const std::string& variables = "") const;
  /// The same with any program.
  ProcessResult RunProgram(const std::string& program, const std::string& args,
                           const std::string& variables = "") const;

 private:
  const TemporaryDirectory scratch_;
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_CLI_RINGSIDE_PROCESS_H_
