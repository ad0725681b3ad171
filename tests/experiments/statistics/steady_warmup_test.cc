#include "ringside/experiments/statistics/steady_warmup.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <functional>
#include <vector>

#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

/// The microseconds of an operation, counted from 0.
using Series = std::function<double(int operation)>;

/// Warms up with operations of a series that take as long as they say. Returns it when it is done.
SteadyWarmup WarmedUp(const Series& series, const WarmupLimits& limits = {}) {
  SteadyWarmup warmup(limits);
  int operation = 0;
  double us = 0;
  while (!warmup.done()) {
    std::vector<double> values(warmup.values(), 0);
    for (double& value : values) {
      for (int i = 0; i < warmup.operations_per_value(); ++i) value += series(operation++);
      us += value;
    }
    warmup.Add(values, us / 1000);
    EXPECT_EQ(warmup.operations(), operation);
  }
  return warmup;
}

/// Differs from one operation to the next, as times do.
double Noise(int operation) { return 1 + 0.02 * (operation % 7); }

TEST(SteadyWarmup, ASeriesThatIsSteadyAtOnceTakesTheLeastTime) {
  const SteadyWarmup warmup = WarmedUp([](int i) { return 1000 * Noise(i); });
  EXPECT_TRUE(warmup.steady());
  EXPECT_GE(warmup.elapsed_ms(), 200);
  EXPECT_LT(warmup.elapsed_ms(), 600);
}

TEST(SteadyWarmup, ASeriesThatSettlesLateIsWaitedFor) {
  // Two workers share a core for 200 operations.
  const SteadyWarmup late = WarmedUp([](int i) { return (i < 200 ? 700 : 141) * Noise(i); });
  EXPECT_TRUE(late.steady());
  EXPECT_GE(late.operations(), 400) << "more operations must be steady than not";
  const SteadyWarmup later = WarmedUp([](int i) { return (i < 270 ? 700 : 141) * Noise(i); });
  EXPECT_TRUE(later.steady());
  EXPECT_GE(later.operations(), 540);
}

TEST(SteadyWarmup, ASeriesThatNeverSettlesEndsAtTheLimit) {
  const SteadyWarmup warmup = WarmedUp([](int i) { return 2000 / (1 + 0.01 * i); });
  EXPECT_FALSE(warmup.steady());
  EXPECT_GE(warmup.elapsed_ms(), 2000);
  EXPECT_LT(warmup.elapsed_ms(), 2500);
}

TEST(SteadyWarmup, ALongOperationRunsOnce) {
  const SteadyWarmup warmup = WarmedUp([](int) { return 12e6; });
  EXPECT_EQ(warmup.operations(), 1);
  EXPECT_FALSE(warmup.steady()) << "one operation tells nothing";
}

TEST(SteadyWarmup, AFewLongOperationsStayNearTheLimit) {
  const SteadyWarmup warmup = WarmedUp([](int i) { return 150'000 * Noise(i); });
  EXPECT_FALSE(warmup.steady()) << "fewer than 20 operations are not judged";
  EXPECT_LT(warmup.elapsed_ms(), 2300);
}

TEST(SteadyWarmup, ManyShortOperationsAreMerged) {
  const SteadyWarmup warmup = WarmedUp([](int i) { return 1.1 * Noise(i); });
  EXPECT_TRUE(warmup.steady());
  EXPECT_GT(warmup.operations(), 100'000);
  EXPECT_LE(warmup.values(), SteadyWarmup::kMostValues);
  EXPECT_GT(warmup.operations_per_value(), 500);
}

TEST(SteadyWarmup, WithinTheLeastTimeNothingIsSteady) {
  const Series constant = [](int) { return 100.0; };
  const SteadyWarmup brief = WarmedUp(constant, {.least_ms = 0});
  EXPECT_EQ(brief.operations(), 32) << "the first batch end with 20 values";
  EXPECT_GE(WarmedUp(constant, {.least_ms = 100}).operations(), 1000);
}

/// The largest values of all ranks, which are threads.
class Agreement {
 public:
  explicit Agreement(int ranks) : barrier_(ranks), values_(static_cast<std::size_t>(ranks)) {}

  void Slowest(int rank, std::span<double> mine) {
    values_[static_cast<std::size_t>(rank)].assign(mine.begin(), mine.end());
    barrier_.arrive_and_wait();
    for (const auto& theirs : values_) {
      ASSERT_EQ(theirs.size(), mine.size()) << "the ranks run other batches";
      for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = std::max(mine[i], theirs[i]);
    }
    barrier_.arrive_and_wait();
  }

 private:
  std::barrier<> barrier_;
  std::vector<std::vector<double>> values_;
};

TEST(WarmUp, AllRanksRunTheSameOperations) {
  constexpr int kRanks = 3;
  Agreement agreement(kRanks);
  std::array<WarmupReport, kRanks> reports;
  std::array<int, kRanks> run{};
  RunRanks(kRanks, [&](int rank) {
    const auto at = static_cast<std::size_t>(rank);
    const auto one = [&, rank] {
      const int i = run[at]++;
      return (rank == 2 && i < 100 ? 900 - 8 * i : 100) * Noise(i);
    };
    reports[at] = WarmUp(std::nullopt,
                         {.run = one, .slowest = [&](auto all) { agreement.Slowest(rank, all); }},
                         {.least_ms = 0, .most_ms = 60'000});
  });
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(reports[rank].operations, reports[0].operations) << rank;
    EXPECT_EQ(run[rank], reports[0].operations) << rank;
    EXPECT_EQ(reports[rank].steady, true) << rank;
  }
  EXPECT_GE(reports[0].operations, 200) << "rank 0 did not wait until rank 2 was steady";
}

TEST(WarmUp, ANumberIsObeyedWithoutAnAgreement) {
  int run = 0;
  const WarmupReport report = WarmUp(7, {.run = [&] { return static_cast<double>(++run); },
                                         .slowest = [](auto) { FAIL() << "asked the others"; }});
  EXPECT_EQ(run, 7);
  EXPECT_EQ(report.operations, 7);
  EXPECT_FALSE(report.steady.has_value());
}

}  // namespace
}  // namespace ringside
