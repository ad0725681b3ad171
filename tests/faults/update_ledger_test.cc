#include "tests/faults/update_ledger.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <vector>

#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/flat_space.h"
#include "ringside/common/strategy/strategy.h"
#include "ringside/common/training/model.h"

namespace ringside {
namespace {

class SilentStrategy : public Strategy {
 public:
  void Start(FlatSpace&, const BucketPlan&, const StartPoint&) override {}
  void Submit(const Bucket&) override {}
  void Await(const Bucket&) override {}
  void ReadOptimizerState(std::span<float>) override {}
  void Stop() override {}
};

double ProcessorMilliseconds() {
  timespec time{};
  EXPECT_EQ(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time), 0);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

/// Processor time of a step that is told to take so much.
double StepWith(const char* busy_ms) {
  ::setenv("RINGSIDE_LEDGER_BUSY_MS", busy_ms, 1);
  const std::unique_ptr<Model> model = LedgerExtensions().models.front().make({});
  const BucketPlan plan(model->Tensors(), {});
  FlatSpace space(plan.elements());
  model->Bind(space, plan);
  SilentStrategy strategy;
  const double begin = ProcessorMilliseconds();
  model->ForwardBackward({}, strategy);
  ::unsetenv("RINGSIDE_LEDGER_BUSY_MS");
  return ProcessorMilliseconds() - begin;
}

// The fault suite makes a worker slow by its share of a processor.
TEST(UpdateLedger, AStepTakesTheProcessorTimeThatItIsTold) { EXPECT_GE(StepWith("200"), 200); }

TEST(UpdateLedger, TellsHowOftenAnUpdateWasApplied) {
  std::vector<float> params(kLedgerTensors * kLedgerSamples);
  params[kLedgerSamples + 5] = -(1 + 2 * 4 + 3 * 16);
  EXPECT_EQ(TimesApplied(params, 1, 5, 0), 1);
  EXPECT_EQ(TimesApplied(params, 1, 5, 1), 2);
  EXPECT_EQ(TimesApplied(params, 1, 5, 2), 3);
  EXPECT_EQ(TimesApplied(params, 1, 5, 3), 0);
  EXPECT_EQ(TimesApplied(params, 0, 5, 0), 0);
  params[0] = 0.5;
  EXPECT_THROW(TimesApplied(params, 0, 0, 0), std::runtime_error);
}

}  // namespace
}  // namespace ringside
