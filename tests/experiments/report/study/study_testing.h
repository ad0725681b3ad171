#ifndef RINGSIDE_TESTS_EXPERIMENTS_REPORT_STUDY_STUDY_TESTING_H_
#define RINGSIDE_TESTS_EXPERIMENTS_REPORT_STUDY_STUDY_TESTING_H_

#include <string>
#include <utility>
#include <vector>

#include "ringside/experiments/report/study/study_table.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {

/// Runs that are made up, and the table of a study of them.

/// One server with a `ps-` strategy.
inline RunResult OneRun(const std::string& strategy, int workers, double samples_per_s,
                        int repetition) {
  RunResult result;
  result.spec = RunSpec(TestCatalog());
  result.directory = strategy + std::to_string(workers) + "-" + std::to_string(repetition);
  result.spec.strategy = strategy;
  result.spec.workers = workers;
  result.spec.servers = strategy.starts_with("ps-") ? 1 : 0;
  result.spec.global_batch = 64;
  result.spec.repetition = repetition;
  result.summary = {{"status", "done"},
                    {"samples_per_s", samples_per_s},
                    {"step_ms", {{"median", 64'000 / samples_per_s}}}};
  return result;
}

/// Adds five repetitions, each a little faster than the one before.
inline void AddRuns(std::vector<RunResult>& runs, const std::string& strategy, int workers,
                    double samples_per_s, int repetitions = 5) {
  for (int i = 0; i < repetitions; ++i) {
    runs.push_back(OneRun(strategy, workers, samples_per_s * (1 + 0.01 * i), i));
  }
}

inline StudyTable TableOf(std::vector<RunResult> runs) {
  return MakeStudyTable({"s", std::move(runs), {}});
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_REPORT_STUDY_STUDY_TESTING_H_
