#include "ringside/experiments/matrix/matrix_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/matrix/live_table.h"
#include "ringside/experiments/matrix/run_filter.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

constexpr char kHead[] =
    "name: a\ndefaults: {model: 'profile:vgg16', steps: 2, global-batch: 64}\n";

std::vector<PlannedRun> Plan(const std::string& rest) {
  return PlanMatrix(ParseMatrixSpec(kHead + rest, "s.yaml", TestCatalog()));
}

std::vector<std::string> SortedLabels(const std::vector<PlannedRun>& runs) {
  std::vector<std::string> labels;
  for (const PlannedRun& run : runs) labels.push_back(run.label);
  std::ranges::sort(labels);
  return labels;
}

TEST(PlanMatrix, MultipliesAxes) {
  const auto runs = Plan("axes:\n  strategy: [none, ring]\n  workers: [1, 2, 4]\n");
  EXPECT_EQ(runs.size(), 6U);
  std::set<std::string> ids;
  for (const PlannedRun& run : runs) {
    EXPECT_EQ(run.id, RunId(run.spec));
    ids.insert(run.id);
  }
  EXPECT_EQ(ids.size(), 6U);
}

TEST(PlanMatrix, IgnoresServersWhereTheStrategyHasNone) {
  const auto runs = Plan("axes:\n  strategy: [ring, ps-sync]\n  servers: [1, 2, colocated]\n");
  EXPECT_THAT(SortedLabels(runs),
              ::testing::ElementsAre("ps-sync workers=2 servers=1", "ps-sync workers=2 servers=2",
                                     "ps-sync workers=2 servers=colocated:2", "ring workers=2"));
}

TEST(PlanMatrix, ExcludesAndIncludes) {
  const auto runs = Plan(
      "axes:\n  strategy: [ring, ps-sync]\n  workers: [2, 4]\n"
      "exclude:\n  - {strategy: ring, workers: 4}\n"
      "include:\n  - {strategy: none, workers: 1}\n");
  EXPECT_THAT(SortedLabels(runs),
              ::testing::ElementsAre("none workers=1", "ps-sync workers=2 servers=1",
                                     "ps-sync workers=4 servers=1", "ring workers=2"));
}

TEST(PlanMatrix, AnAxisOverBatchesReplacesTheBatchOfTheDefaults) {
  const auto runs = Plan("axes:\n  batch-per-worker: [8, 16]\n");
  ASSERT_EQ(runs.size(), 2U);
  for (const PlannedRun& run : runs) EXPECT_EQ(run.spec.global_batch, 0);
}

TEST(PlanMatrix, RefusesMoreRunsThanAnybodyWaitsFor) {
  std::string seeds = "axes:\n  seed: [1";
  for (int seed = 2; seed <= 101; ++seed) seeds += ", " + std::to_string(seed);
  try {
    Plan(seeds + "]\nrepetitions: 1000\n");
    FAIL() << "taken";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(),
                ::testing::HasSubstr("1000 repetitions of 101 runs are more than 100000 runs"));
  }
}

TEST(PlanMatrix, RepeatsInShuffledBlocks) {
  const std::string axes = "axes:\n  workers: [1, 2, 3, 4, 5, 6, 7, 8]\nrepetitions: 3\n";
  const auto runs = Plan(axes);
  ASSERT_EQ(runs.size(), 24U);
  std::vector<std::vector<int>> blocks(3);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i].spec.repetition, static_cast<int>(i / 8));
    blocks[i / 8].push_back(runs[i].spec.workers);
  }
  EXPECT_NE(blocks[0], blocks[1]);
  for (auto& block : blocks) {
    EXPECT_FALSE(std::ranges::is_sorted(block));
    std::ranges::sort(block);
    EXPECT_THAT(block, ::testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  }
}

TEST(PlanMatrix, TheOrderIsAFunctionOfItsSeed) {
  const std::string axes = "axes:\n  workers: [1, 2, 3, 4, 5, 6, 7, 8]\n";
  const auto ids = [](const std::vector<PlannedRun>& runs) {
    std::vector<std::string> all;
    for (const PlannedRun& run : runs) all.push_back(run.id);
    return all;
  };
  EXPECT_EQ(ids(Plan(axes)), ids(Plan(axes)));
  EXPECT_NE(ids(Plan(axes)), ids(Plan(axes + "order_seed: 2\n")));
}

TEST(PlanMatrix, AsManyServersAsWorkers) {
  const auto runs = Plan(
      "axes:\n  strategy: [ring, ps-sync]\n  workers: [2, 4]\n  servers: [1, 4, workers]\n"
      "exclude:\n  - {workers: 2, servers: 4}\n");
  // With four workers "4" and "workers" are one run; with two "workers" is no 4.
  EXPECT_THAT(SortedLabels(runs),
              ::testing::ElementsAre("ps-sync workers=2 servers=1", "ps-sync workers=2 servers=2",
                                     "ps-sync workers=4 servers=1", "ps-sync workers=4 servers=4",
                                     "ring workers=2", "ring workers=4"));
}

TEST(PlanMatrix, ExcludesServersHoweverTheyAreCounted) {
  const std::string axes =
      "axes:\n  strategy: [ps-sync]\n  workers: [2, 4]\n  servers: [workers]\n";
  EXPECT_THAT(SortedLabels(Plan(axes + "exclude:\n  - {servers: 4}\n")),
              ::testing::ElementsAre("ps-sync workers=2 servers=2"));
  EXPECT_THAT(SortedLabels(Plan(axes + "exclude:\n  - {servers: workers, workers: 2}\n")),
              ::testing::ElementsAre("ps-sync workers=4 servers=4"));
}

TEST(PlanMatrix, VariesIncludesAndExcludesKeysThatAreMaps) {
  const auto runs = Plan(
      "axes:\n  strategy: [ring]\n  network:\n    - {hosts: 2, rate: 1Gbps}\n    - 100Mbps\n"
      "    - {hosts: 2, rate: 300Mbps}\n"
      "exclude:\n  - {network: 'hosts=2,rate=1000Mbps'}\n"
      "include:\n  - {strategy: none, network: {hosts: 2, rate: 50Mbps}}\n");
  ASSERT_EQ(runs.size(), 3U);
  std::vector<double> rates;
  for (const PlannedRun& run : runs) rates.push_back(run.spec.link_bits_per_s);
  EXPECT_THAT(rates, ::testing::UnorderedElementsAre(100e6, 300e6, 50e6));
  const RunFilter only({"network={hosts=2,rate=300Mbps},strategy=ring"}, TestCatalog());
  EXPECT_EQ(std::ranges::count_if(runs, [&](const auto& run) { return only.Fits(run.spec); }), 1);
}

MatrixSpec WithImpossible() {
  return ParseMatrixSpec(std::string(kHead) +
                             "axes:\n  strategy: [ring, ps-sync]\n  workers: [2, 4]\n"
                             "  servers: [1, 9]\nrepetitions: 2\n",
                         "s.yaml", TestCatalog());
}

TEST(PlanMatrix, ACombinationThatCannotBeStopsAllUnlessToldToKeepGoing) {
  const MatrixSpec spec = WithImpossible();
  EXPECT_THROW(PlanMatrix(spec), ConfigError);
  const MatrixPlan plan = PlanSupportedRuns(spec);
  ASSERT_EQ(plan.refused.size(), 1U) << "nine servers suit four workers, not two";
  EXPECT_EQ(plan.refused[0].label, "ps-sync workers=2 servers=9");
  EXPECT_THAT(plan.refused[0].reason, ::testing::StartsWith("s.yaml:6:16: "));
  EXPECT_EQ(plan.runs.size(), 2U * 5U);
}

TEST(PlanMatrix, WhatThisMachineLacksIsPlacedAndLeftOutWhenToldToKeepGoing) {
  const MatrixSpec spec = ParseMatrixSpec(std::string(kHead) +
                                              "axes:\n  strategy: [ring]\n  network:\n    - "
                                              "100Mbps\n    - {rate: 1Gbps, latency: 1ms}\n",
                                          "s.yaml", TestCatalog());
  const auto require = [](const RunSpec& run) {
    if (run.network->needs_netem()) throw MissingKeyError("network", "no delays here");
  };
  const MatrixPlan plan = PlanSupportedRuns(spec, require);
  ASSERT_EQ(plan.runs.size(), 1U);
  ASSERT_EQ(plan.refused.size(), 1U);
  EXPECT_THAT(plan.refused[0].reason, ::testing::StartsWith("s.yaml:7:7: no delays here (in the"));
  try {
    (void)PlanMatrix(spec, require);
    FAIL() << "planned";
  } catch (const MissingBackendError& error) {
    EXPECT_THAT(error.what(), ::testing::StartsWith("s.yaml:7:7: no delays here"));
  }
}

TEST(PlanMatrix, OtherHostsAreNotAskedForBackends) {
  StrategyEntry entry = *TestCatalog().FindStrategy("ring");
  entry.name = "gpu-ring";
  entry.unavailable = [] { return std::string("no GPU is here"); };
  const Catalog catalog({.strategies = {entry}});
  const std::string text = std::string(kHead) + "axes:\n  strategy: [gpu-ring, ring]\n";
  const MatrixSpec spec = ParseMatrixSpec(text, "s.yaml", catalog);
  EXPECT_THROW(PlanMatrix(spec), MissingBackendError);
  EXPECT_EQ(PlanSupportedRuns(spec).runs.size(), 1U);
  EXPECT_EQ(PlanMatrix(spec, {}, RunsOn::kOtherHosts).size(), 2U);
  EXPECT_EQ(PlanSupportedRuns(spec, {}, RunsOn::kOtherHosts).runs.size(), 2U);
}

struct Unfit {
  const char* spec;
  const char* place;
  const char* key;
};

void PrintTo(const Unfit& unfit, std::ostream* out) { *out << unfit.key; }

class PlanMatrixUnfit : public ::testing::TestWithParam<Unfit> {};

// The key that is wrong is a default; another one in the file made it so.
TEST_P(PlanMatrixUnfit, PointsAtTheKeyThatTheFileSets) {
  try {
    (void)PlanMatrix(
        ParseMatrixSpec(std::string("name: a\n") + GetParam().spec, "s.yaml", TestCatalog()));
    FAIL() << "taken";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), ::testing::StartsWith(std::string("s.yaml:") + GetParam().place +
                                                    ": " + GetParam().key + ": "));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, PlanMatrixUnfit,
    ::testing::Values(Unfit{"axes:\n  workers: [100]\n", "3:13", "global-batch"},
                      Unfit{"defaults: {global-batch: 64}\naxes:\n  workers: [100]\n", "2:26",
                            "global-batch"},
                      Unfit{"defaults:\n  data: mnist\naxes:\n  workers: [2]\n", "3:9", "data-dir"},
                      Unfit{"defaults: {model: 'profile:vgg16', steps: 3}\naxes:\n  schedule-lr: "
                            "[constant, step]\n",
                            "4:27", "lr-step-every"},
                      Unfit{"axes:\n  model: ['profile:vgg16']\n", "3:11", "steps"},
                      Unfit{"defaults: {strategy: ps-backup, workers: 1}\naxes:\n  seed: [1]\n",
                            "2:42", "backups"}));

TEST(PlanMatrix, KeepGoingForgivesNoSlipOfThePen) {
  const auto plan = [](const std::string& axes) {
    return PlanSupportedRuns(ParseMatrixSpec(kHead + axes, "s.yaml", TestCatalog()));
  };
  EXPECT_THROW(plan("axes:\n  strategy: [ring, rng]\n"), ConfigError);
  EXPECT_THROW(plan("axes:\n  strategy: [ps-sync]\n  servers: [99]\n"), ConfigError)
      << "nothing is left to run";
}

std::vector<std::string> Only(const std::vector<std::string>& expressions) {
  auto runs = Plan(
      "axes:\n  strategy: [none, ring, ps-sync]\n  workers: [2, 4]\n  servers: [1, workers, "
      "colocated]\n");
  const RunFilter filter(expressions, TestCatalog());
  std::erase_if(runs, [&](const PlannedRun& run) { return !filter.Fits(run.spec); });
  return SortedLabels(runs);
}

TEST(RunFilter, TakesRunsThatHaveAllValuesOfAnyExpression) {
  EXPECT_EQ(Only({}).size(), 10U);
  EXPECT_THAT(Only({"strategy=ring,workers=4"}), ::testing::ElementsAre("ring workers=4"));
  EXPECT_THAT(Only({"strategy=ring,workers=4", "strategy=none"}),
              ::testing::ElementsAre("none workers=2", "none workers=4", "ring workers=4"));
  EXPECT_THAT(Only({"servers=workers"}),
              ::testing::ElementsAre("ps-sync workers=2 servers=2", "ps-sync workers=4 servers=4"));
  EXPECT_THAT(Only({"servers=colocated,workers=2"}),
              ::testing::ElementsAre("ps-sync workers=2 servers=colocated:2"));
  EXPECT_THAT(Only({"hidden=128,64"}), ::testing::IsEmpty());
}

TEST(RunFilter, RefusesWhatIsNoExpression) {
  for (const char* wrong :
       {"", "ring", "strategy", "wrokers=2", "workers=two", "=2", "workers=1,ring"}) {
    EXPECT_THROW(RunFilter({wrong}, TestCatalog()), UsageError) << wrong;
  }
}

LiveTable TableOf(const std::vector<PlannedRun>& runs) { return LiveTable(runs); }

TEST(LiveTable, CountsRepetitionsOfACombination) {
  const auto runs = Plan("axes:\n  workers: [1, 2]\nrepetitions: 3\n");
  LiveTable table = TableOf(runs);
  double step_ms = 0;
  for (const PlannedRun& run : runs) {
    if (run.spec.workers == 1) {
      step_ms += 10;
      table.End(run, "done", {{"step_ms", {{"median", step_ms}}}});
    }
  }
  const auto second =
      std::ranges::find(runs, 2, [](const PlannedRun& run) { return run.spec.workers; });
  table.End(*second, "failed", nullptr);
  table.Start(*second);
  EXPECT_THAT(table.Lines(),
              ::testing::ElementsAre("  combination     done  failed  left   step ms",
                                     "  ring workers=1     3       0     0      20.0",
                                     "> ring workers=2     0       1     2         -"));
}

TEST(LiveTable, CountsRunsThatTheMachineLimitedOutsideTheMedian) {
  const auto runs = Plan("axes:\n  workers: [1, 2]\nrepetitions: 2\n");
  LiveTable table = TableOf(runs);
  const auto summary = [](double step_ms, const nlohmann::json& verdict) {
    return nlohmann::json{{"status", "done"},
                          {"step_ms", {{"median", step_ms}}},
                          {"fidelity", {{"verdict", verdict}}}};
  };
  for (const PlannedRun& run : runs) {
    if (run.spec.workers == 2) {
      table.End(run, "done", summary(90, nullptr));  // not judged
    } else if (run.spec.repetition == 1) {
      table.End(run, "done", summary(90, "limited"));
    } else {
      table.End(run, "done", summary(10, "ok"));
    }
  }
  EXPECT_THAT(table.Lines(),
              ::testing::ElementsAre("  combination     done  failed  limited  left   step ms",
                                     "  ring workers=1     2       0        1     0      10.0",
                                     "  ring workers=2     2       0        2     0     90.0!"));
}

TEST(ShouldRun, FollowsTheTable) {
  struct Row {
    std::optional<std::string> status;
    bool refuse, resume, retry, force;
  };
  // What kRefuse leaves out is what it refuses over.
  for (const Row& row :
       {Row{std::nullopt, true, true, true, true}, Row{"done", false, false, false, true},
        Row{"failed", false, false, true, true}, Row{"diverged", false, false, true, true},
        Row{"interrupted", true, true, true, true}, Row{"corrupt", true, true, true, true}}) {
    EXPECT_EQ(ShouldRun(ExistingRunPolicy::kRefuse, row.status), row.refuse)
        << row.status.value_or("-");
    EXPECT_EQ(ShouldRun(ExistingRunPolicy::kResume, row.status), row.resume)
        << row.status.value_or("-");
    EXPECT_EQ(ShouldRun(ExistingRunPolicy::kRetryFailed, row.status), row.retry)
        << row.status.value_or("-");
    EXPECT_EQ(ShouldRun(ExistingRunPolicy::kForce, row.status), row.force)
        << row.status.value_or("-");
  }
}

}  // namespace
}  // namespace ringside
