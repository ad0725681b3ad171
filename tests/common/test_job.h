#ifndef RINGSIDE_TESTS_COMMON_TEST_JOB_H_
#define RINGSIDE_TESTS_COMMON_TEST_JOB_H_

#include <functional>
#include <memory>
#include <vector>

#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/common/training/trainer.h"
#include "tests/common/test_model.h"

namespace ringside {

struct TestJobOptions {
  int workers = 1;
  int servers = 0;
  bool colocated = false;
  TestModelOptions model = {};
  OptimizerOptions optimizer = {};
  ScheduleOptions schedule{.base = 0.25};
  BucketPlanOptions plan{.target_bytes = 100, .first_bytes = 40};
  CommOptions comm{.timeout = std::chrono::seconds(20)};
  TrainerOptions trainer = {};
  std::chrono::milliseconds drift{0};  ///< How late the others are to every exchange.
  std::vector<float> params = {};      ///< Initial parameters; empty: the model's own.
};

/// The outcome of one worker of a job.
struct TestJobOutcome {
  TrainerResult result;
  std::vector<float> params;
  std::vector<float> buffers;
  std::vector<StepRecord> steps;
  std::vector<EvaluationRecord> evaluations;
};

using StrategyFactory = std::function<std::unique_ptr<Strategy>(const StrategyContext&)>;
using ObserverFactory = std::function<std::unique_ptr<TrainerObserver>(const World&)>;

/// Trains a `TestModel` with `Train` under any strategy, with threads as workers. Returns the
/// outcome of each rank. Rethrows the first exception.
std::vector<TestJobOutcome> RunTestJob(const TestJobOptions& options, const Dataset& dataset,
                                       const StrategyFactory& make_strategy,
                                       const ObserverFactory& make_observer = {});

}  // namespace ringside

#endif  // RINGSIDE_TESTS_COMMON_TEST_JOB_H_
