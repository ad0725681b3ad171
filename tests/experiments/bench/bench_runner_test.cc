#include "ringside/experiments/bench/bench_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ringside/experiments/bench/bench_candidates.h"
#include "ringside/experiments/bench/bench_render.h"
#include "ringside/experiments/worker/timed_operation.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;

BenchCandidate Fake(const std::string& name, std::vector<double> times,
                    std::vector<std::string>& calls, BenchKind kind = BenchKind::kStrategy) {
  return {.name = name,
          .kind = kind,
          .bytes_per_nic = [](std::int64_t bytes) { return 2.0 * static_cast<double>(bytes); },
          .run =
              [name, times, &calls] {
                calls.push_back(name);
                BenchRound round;
                round.outcome.status = JobStatus::kDone;
                round.samples = {{1000, times, 1}};
                return round;
              }};
}

const BenchProgress kSilent = [](const BenchCandidate&, int) {};

TEST(BenchRunner, MediansAndBandwidthsAreOfAllRounds) {
  std::vector<std::string> calls;
  const std::vector<BenchCandidate> contenders{Fake("ring", {1, 3, 2}, calls)};
  const BenchResult result = RunBench(contenders, 2, kSilent);
  ASSERT_EQ(result.rows.size(), 1U);
  const BenchRow& row = result.rows[0];
  EXPECT_DOUBLE_EQ(row.time_us, 2);
  EXPECT_DOUBLE_EQ(row.p99_us, 3);
  EXPECT_THAT(row.round_us, ElementsAre(2, 2));
  EXPECT_DOUBLE_EQ(row.algorithm_gb_per_s, 0.5);
  EXPECT_DOUBLE_EQ(row.bus_gb_per_s, 1);
  EXPECT_EQ(result.wrong(), 2);
}

BenchResult AfterWarmups(const std::vector<WarmupReport>& rounds,
                         std::vector<BenchCandidate>& contenders) {
  std::vector<std::string> calls;
  contenders = {Fake("ring", {1}, calls)};
  contenders[0].run = [rounds, round = std::size_t{0}]() mutable {
    BenchRound done;
    done.outcome.status = JobStatus::kDone;
    done.samples = {{.size = 1000, .times_us = {1}, .wrong = {}, .warmup = rounds[round++]}};
    return done;
  };
  return RunBench(contenders, static_cast<int>(rounds.size()), kSilent);
}

TEST(BenchRunner, ARowIsSteadyIfEveryRoundWas) {
  BenchSetting setting;
  const BenchResult unsteady =
      AfterWarmups({{64, 210, true}, {900, 2005, false}, {128, 200, true}}, setting.contenders);
  EXPECT_EQ(unsteady.rows[0].warmup.operations, 900);
  EXPECT_EQ(unsteady.rows[0].warmup.ms, 2005);
  EXPECT_EQ(unsteady.rows[0].warmup.steady, false);
  EXPECT_THAT(RenderBench(setting, unsteady), ::testing::HasSubstr("2005 !"));
  EXPECT_THAT(RenderBench(setting, unsteady), ::testing::HasSubstr("\n! the warm-up reached"));
  EXPECT_EQ(BenchJson(setting, unsteady)["rows"][0]["steady"], false);

  const BenchResult steady = AfterWarmups({{64, 210, true}, {32, 9, true}}, setting.contenders);
  EXPECT_EQ(steady.rows[0].warmup.steady, true);
  EXPECT_EQ(RenderBench(setting, steady).find('!'), std::string::npos);
  const BenchResult given = AfterWarmups({{5, 1, std::nullopt}}, setting.contenders);
  EXPECT_TRUE(BenchJson(setting, given)["rows"][0]["steady"].is_null());
}

TEST(BenchRunner, ContendersTakeTurnsInAnotherOrderEachRound) {
  std::vector<std::string> calls;
  std::vector<BenchCandidate> contenders;
  for (const char* name : {"a", "b", "c", "d", "e"}) contenders.push_back(Fake(name, {1}, calls));
  RunBench(contenders, 2, kSilent);
  ASSERT_EQ(calls.size(), 10U);
  const std::vector<std::string> first(calls.begin(), calls.begin() + 5);
  const std::vector<std::string> second(calls.begin() + 5, calls.end());
  EXPECT_THAT(first, ::testing::UnorderedElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(second, ::testing::UnorderedElementsAre("a", "b", "c", "d", "e"));
  EXPECT_NE(first, second);
}

TEST(BenchRunner, TheFastestGlooIsMarked) {
  std::vector<std::string> calls;
  const std::vector<BenchCandidate> contenders{
      Fake("ring", {1}, calls), Fake("gloo-ring", {5}, calls, BenchKind::kBareGloo),
      Fake("gloo-halving-doubling", {4}, calls, BenchKind::kBareGloo)};
  const BenchResult result = RunBench(contenders, 1, kSilent);
  ASSERT_EQ(result.rows.size(), 3U);
  EXPECT_FALSE(result.rows[0].best_peer);
  EXPECT_FALSE(result.rows[1].best_peer);
  EXPECT_TRUE(result.rows[2].best_peer);
}

TEST(BenchRunner, AFailureEndsItAndNamesTheContender) {
  std::vector<std::string> calls;
  std::vector<BenchCandidate> contenders{Fake("ring", {1}, calls)};
  contenders[0].run = [] {
    return BenchRound{{JobStatus::kFailed, "worker 1 was killed by signal 9"}};
  };
  const BenchResult result = RunBench(contenders, 5, kSilent);
  EXPECT_EQ(result.outcome.status, JobStatus::kFailed);
  EXPECT_EQ(result.outcome.error, "ring: worker 1 was killed by signal 9");
}

TEST(BenchRunner, ASignalAtTheEndOfAJobEndsIt) {
  std::vector<std::string> calls;
  std::vector<BenchCandidate> contenders{Fake("ring", {1}, calls)};
  int jobs = 0;
  contenders[0].run = [&jobs] {
    BenchRound round;
    round.outcome.status = JobStatus::kDone;
    round.outcome.stop_requested = ++jobs == 2;
    return round;
  };
  EXPECT_EQ(RunBench(contenders, 5, kSilent).outcome.status, JobStatus::kInterrupted);
  EXPECT_EQ(jobs, 2);
}

TEST(StrategyCandidate, AnOperationTakesAsLongAsItsSlowestWorker) {
  const auto job = [](const RunSpec&, const JobOptions& options) {
    EXPECT_EQ(options.bench->sizes.size(), 1U);
    JobOutcome outcome{.status = JobStatus::kDone};
    const auto worker = [&](std::vector<double> times, int wrong) {
      const nlohmann::json row{{"size", options.bench->sizes[0]},
                               {"times_us", times},
                               {"wrong", wrong},
                               {"warmup", {{"operations", 64}, {"ms", wrong}, {"steady", true}}},
                               {"notes", {"picked"}}};
      return nlohmann::json{{"sizes", {row}}};
    };
    outcome.summary = {{"workers", {worker({1, 5}, 2), worker({4, 2}, 3)}}};
    return outcome;
  };
  RunSpec spec(TestCatalog());
  const BenchPlan plan{.sizes = {64}, .iterations = 2};
  const BenchRound round = StrategyCandidate(spec, plan, {}, "nowhere", job).run();
  ASSERT_EQ(round.samples.size(), 1U);
  EXPECT_THAT(round.samples[0].times_us, ElementsAre(4, 5));
  EXPECT_EQ(round.samples[0].wrong, 5);
  EXPECT_EQ(round.samples[0].warmup.operations, 64);
  EXPECT_EQ(round.samples[0].warmup.ms, 3) << "of the slowest worker";
  EXPECT_EQ(round.samples[0].warmup.steady, true);
  EXPECT_THAT(round.samples[0].notes, ElementsAre("picked"));  // all workers tell the same
}

TEST(ExactIntegerPattern, SumsAreThoseOfTheirTerms) {
  for (const int workers : {1, 2, 3, 16, 17, 40}) {
    const ExactIntegerPattern known(workers, 1);
    for (const std::size_t i : {0U, 1U, 96U, 97U, 1000U}) {
      float sum = 0;
      for (int rank = 0; rank < workers; ++rank) sum += known.Own(rank, i);
      EXPECT_EQ(sum, known.Sum(i)) << workers << " workers, element " << i;
    }
  }
}

TEST(ExactIntegerPattern, DifferBetweenRounds) {
  EXPECT_NE(ExactIntegerPattern(2, 0).Own(0, 5), ExactIntegerPattern(2, 1).Own(0, 5));
}

}  // namespace
}  // namespace ringside
