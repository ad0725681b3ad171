#ifndef RINGSIDE_TESTS_EXPERIMENTS_MATRIX_MATRIX_RUNNER_TESTING_H_
#define RINGSIDE_TESTS_EXPERIMENTS_MATRIX_MATRIX_RUNNER_TESTING_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ringside/experiments/matrix/matrix_runner.h"

namespace ringside {

/// Runs a matrix of four runs, with 1, 2, 3 and 4 workers. A function of the test stands in for
/// jobs.
class MatrixRunnerTest : public ::testing::Test, public MatrixListener {
 protected:
  MatrixRunnerTest();
  ~MatrixRunnerTest() override;

  MatrixRunCounts Run(ExistingRunPolicy existing);
  void SetVersionOfIndex(int version);
  nlohmann::json SummaryOf(int workers) const;
  /// The paths of the runs that the index has.
  std::vector<std::string> Indexed() const;

  void ShowLine(const std::string& line) override;
  bool Interrupted() override;

  std::filesystem::path directory_;
  MatrixSpec spec_;
  std::vector<PlannedRun> runs_;
  JobOptions job_;

  // What was seen.
  std::vector<int> carried_;  ///< The workers of each run that was carried out.
  std::vector<double> time_limits_;
  std::vector<std::string> said_;
  std::vector<std::optional<std::string>> left_between_attempts_;

  // What the next runs do. Each names a run by its number of workers; 0 is no run.
  int throws_ = 0;
  int throws_times_ = 1000;
  int fails_ = 0;
  int fails_times_ = 1000;
  FailureKind failure_ = FailureKind::kEarlyExit;
  int full_ = 0;  ///< Cannot write its bundle.
  int limited_ = 0;
  int interrupts_ = 0;
  int signalled_ = 0;          ///< A signal comes too late to interrupt it.
  int interrupted_after_ = 0;  ///< Runs. 0: never.

 private:
  JobOutcome Carry(const RunSpec& spec, const JobOptions& options);
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_MATRIX_MATRIX_RUNNER_TESTING_H_
