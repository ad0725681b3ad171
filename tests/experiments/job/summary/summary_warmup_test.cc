#include <gtest/gtest.h>

#include <vector>

#include "ringside/experiments/job/summary/summary.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

StepRecord Step(std::int64_t step, double step_ms) {
  return {.step = step, .step_ms = step_ms, .compute_ms = 1, .samples = 4};
}

TEST(Summary, JudgesTheFirstStepsAsAStudyDoes) {
  RunRecord run;
  run.spec = ProfileSpec("ring", 1, 60);
  run.status = "done";
  run.workers = {{"a", {Step(0, 9), Step(1, 9)}, nullptr}};
  run.spec.warmup_steps = 3;
  EXPECT_EQ(MakeSummary(run)["warmup_steps"], 3);
  EXPECT_TRUE(MakeSummary(run)["warmup_detected"].is_null()) << "two steps are too few to judge";
  EXPECT_TRUE(MakeSummary(run)["warmup_short"].is_null());
  std::vector<StepRecord>& steps = run.workers[0].steps;
  steps.clear();
  for (int step = 0; step < 60; ++step) steps.push_back(Step(step, step < 15 ? 40 : 10));
  steps.back().step_ms = 900;  // it is not timed
  EXPECT_EQ(MakeSummary(run)["warmup_detected"], 15);
  EXPECT_EQ(MakeSummary(run)["warmup_short"], true);
  run.spec.warmup_steps = 15;
  EXPECT_EQ(MakeSummary(run)["warmup_short"], false);
}

}  // namespace
}  // namespace ringside
