#include "add_a_consistency.inc"

#include <gtest/gtest.h>

#include "ringside/common/base/errors.h"
#include "ringside/paramserver/strategies/ps_strategies.h"
#include "tests/paramserver/ps_cluster.h"

namespace ringside {
namespace {

/// One worker, so that the order of pushes is known.
float ParameterAfterTwoSteps(const StrategyOptions& options) {
  const StrategyEntry entry = ServerStrategyEntry(DampedEntry());
  PsCluster cluster({.entry = &entry, .workers = 1, .elements = 16, .strategy = options});
  float value = 0;
  cluster.Run([&](TestWorker& worker) {
    worker.FillGradients(1);
    for (int step = 0; step < 2; ++step) worker.Step(step);
    worker.strategy->Settle();
    value = worker.space.params()[0];
  });
  return value;
}

TEST(AddAConsistencyTest, TheExampleAppliesEveryPushDamped) {
  EXPECT_EQ(ParameterAfterTwoSteps({}), -2 * 0.5F);
  StrategyOptions quarter;
  quarter.Set(kDamping, 0.25);
  EXPECT_EQ(ParameterAfterTwoSteps(quarter), -2 * 0.25F);
}

TEST(AddAConsistencyTest, ItsFlagHasARange) {
  StrategyOptions options;
  EXPECT_THROW(options.Set(kDamping, 0.0), ConfigError);
  EXPECT_THROW(options.Set(kDamping, 1.5), ConfigError);
}

TEST(AddAConsistencyTest, ItsOptionsCanLoseNothing) {
  const StrategyEntry entry = ServerStrategyEntry(DampedEntry());
  EXPECT_TRUE(entry.Declares("damping"));
  EXPECT_EQ(entry.losing_nothing({}).Get(kDamping), 1.0);
}

}  // namespace
}  // namespace ringside
