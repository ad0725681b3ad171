#include "ringside/common/training/straggler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;
using Kind = StragglerOptions::Kind;

std::string RefusalOf(std::string_view text) {
  try {
    ParseStraggler(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

/// The ranks that are slowed in a step.
std::vector<int> Slowed(const StragglerOptions& options, std::uint64_t seed, std::int64_t step,
                        int workers) {
  std::vector<int> slowed;
  for (int worker = 0; worker < workers; ++worker) {
    if (Slowdown(options, seed, step, worker, workers) == options.factor) slowed.push_back(worker);
  }
  return slowed;
}

TEST(StragglerText, ComesBackWithEveryValueThatCounts) {
  EXPECT_EQ(StragglerText(ParseStraggler("none")), "none");
  EXPECT_EQ(StragglerText(ParseStraggler("kind=permanent,factor=1.5")),
            "kind=permanent,factor=1.5,worker=0");
  EXPECT_EQ(StragglerText(ParseStraggler("factor=2,kind=rotating")),
            "kind=rotating,factor=2,every=10");
  EXPECT_EQ(StragglerText(ParseStraggler("kind=random,factor=3,probability=0.25")),
            "kind=random,factor=3,probability=0.25");
  for (const char* text : {"none", "kind=permanent,factor=1.5,worker=3",
                           "kind=rotating,factor=2,every=4", "kind=random,factor=3"}) {
    const StragglerOptions options = ParseStraggler(text);
    EXPECT_EQ(ParseStraggler(StragglerText(options)), options) << text;
  }
}

TEST(StragglerText, IsRefusedWithTheReason) {
  EXPECT_THAT(RefusalOf(""), HasSubstr("key=value"));
  EXPECT_THAT(RefusalOf("rotating"), HasSubstr("kind=rotating,factor=2"));
  EXPECT_THAT(RefusalOf("kind=slow,factor=2"), HasSubstr("permanent, rotating and random"));
  EXPECT_THAT(RefusalOf("factor=2"), HasSubstr("needs a kind"));
  EXPECT_THAT(RefusalOf("kind=rotating"), HasSubstr("needs a factor"));
  EXPECT_THAT(RefusalOf("kind=rotating,factor=2,factor=3"), HasSubstr("given twice"));
  EXPECT_THAT(RefusalOf("kind=rotating,factor=2,speed=3"), HasSubstr("has no 'speed'"));
  EXPECT_THAT(RefusalOf("kind=rotating,factor=2,worker=1"), HasSubstr("does not read worker"));
  EXPECT_THAT(RefusalOf("kind=permanent,factor=2,every=1"), HasSubstr("does not read every"));
  EXPECT_THAT(RefusalOf("kind=rotating,factor=x"), HasSubstr("no number"));
  EXPECT_THAT(RefusalOf("kind=rotating,factor=2,every=1.5"), HasSubstr("no number"));
  for (const char* factor : {"1", "0.5", "-2", "nan", "inf", "1001"}) {
    EXPECT_THAT(RefusalOf(std::string("kind=rotating,factor=") + factor), HasSubstr("above 1"));
  }
  EXPECT_THAT(RefusalOf("kind=rotating,factor=2,every=0"), HasSubstr("at least 1 step"));
  EXPECT_THAT(RefusalOf("kind=random,factor=2,probability=0"), HasSubstr("above 0"));
  EXPECT_THAT(RefusalOf("kind=random,factor=2,probability=1.1"), HasSubstr("at most 1"));
  EXPECT_THAT(RefusalOf("kind=permanent,factor=2,worker=-1"), HasSubstr("0 or more"));
}

TEST(Slowdown, OfAPermanentStragglerIsOneWorkersForGood) {
  const StragglerOptions options = ParseStraggler("kind=permanent,factor=2,worker=2");
  for (const std::int64_t step : {0, 1, 99}) EXPECT_EQ(Slowed(options, 1, step, 4), std::vector{2});
  EXPECT_EQ(Slowdown(options, 1, 0, 2, 4), 2);
  EXPECT_EQ(Slowdown(options, 1, 0, 1, 4), 1);
}

TEST(Slowdown, OfRotatingStragglersGoesRound) {
  const StragglerOptions options = ParseStraggler("kind=rotating,factor=2,every=3");
  std::vector<int> turns;
  for (std::int64_t step = 0; step < 12; ++step) {
    const std::vector<int> slowed = Slowed(options, 1, step, 3);
    ASSERT_EQ(slowed.size(), 1U);
    turns.push_back(slowed.front());
  }
  EXPECT_THAT(turns, ::testing::ElementsAre(0, 0, 0, 1, 1, 1, 2, 2, 2, 0, 0, 0));
}

TEST(Slowdown, OfRandomStragglersIsAPureFunctionOfSeedStepAndWorker) {
  const StragglerOptions options = ParseStraggler("kind=random,factor=2,probability=0.25");
  int slowed = 0;
  int other_seed = 0;
  int other_worker = 0;
  constexpr int kSteps = 4000;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    const double here = Slowdown(options, 1, step, 0, 2);
    EXPECT_EQ(here, Slowdown(options, 1, step, 0, 8));
    slowed += here > 1 ? 1 : 0;
    other_seed += here != Slowdown(options, 2, step, 0, 2) ? 1 : 0;
    other_worker += here != Slowdown(options, 1, step, 1, 2) ? 1 : 0;
  }
  // Five standard deviations of a binomial: 0.25 x 4000, and 2 x 0.25 x 0.75 x 4000 that differ.
  EXPECT_NEAR(slowed, 1000, 137);
  EXPECT_NEAR(other_seed, 1500, 154);
  EXPECT_NEAR(other_worker, 1500, 154);
}

// Recorded runs depend on these numbers: the slow steps of worker 0, among its first thirty.
TEST(Slowdown, OfRandomStragglersNeverChanges) {
  const StragglerOptions options = ParseStraggler("kind=random,factor=2,probability=0.25");
  std::vector<std::int64_t> slow;
  for (std::int64_t step = 0; step < 30; ++step) {
    if (Slowdown(options, 1, step, 0, 2) > 1) slow.push_back(step);
  }
  EXPECT_THAT(slow, ::testing::ElementsAre(6, 10, 11, 15, 18, 20, 21, 22, 27));
}

TEST(Slowdown, OfNoneIsOne) { EXPECT_EQ(Slowdown({}, 1, 5, 0, 3), 1); }

}  // namespace
}  // namespace ringside
