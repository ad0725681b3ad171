#ifndef RINGSIDE_TESTS_EXPERIMENTS_CLI_RINGSIDE_PROCESS_H_
#define RINGSIDE_TESTS_EXPERIMENTS_CLI_RINGSIDE_PROCESS_H_

#include <gtest/gtest.h>

#include <string>

namespace ringside {

/// What a finished `ringside` left.
struct ProcessResult {
  int exit_code = -1;  ///< 128 + signal when one ended it.
  std::string out;
  std::string err;
};

/// A test with a scratch directory of its own, which goes with it.
class RingsideProcessTest : public ::testing::Test {
 protected:
  RingsideProcessTest();
  ~RingsideProcessTest() override;

  const std::string& scratch() const { return scratch_; }
  /// Runs the real executable of this build, through the shell and in the scratch directory, with
  /// `variables` ("A=b C=d") in its environment.
  ProcessResult RunRingside(const std::string& args, const std::string& variables = "") const;

 private:
  std::string scratch_;
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_CLI_RINGSIDE_PROCESS_H_
