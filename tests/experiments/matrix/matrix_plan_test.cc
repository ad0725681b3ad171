#include "experiments/matrix/matrix_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace ringside {
namespace {

using ::testing::HasSubstr;

constexpr char kHead[] =
    "name: a\ndefaults: {model: 'profile:vgg16', steps: 2, global-batch: 64}\n";

std::vector<PlannedRun> Plan(const std::string& rest) {
  return PlanMatrix(ParseMatrixSpec(kHead + rest, "s.yaml"));
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
    EXPECT_EQ(ShouldRun(Existing::kRefuse, row.status), row.refuse) << row.status.value_or("-");
    EXPECT_EQ(ShouldRun(Existing::kResume, row.status), row.resume) << row.status.value_or("-");
    EXPECT_EQ(ShouldRun(Existing::kRetryFailed, row.status), row.retry) << row.status.value_or("-");
    EXPECT_EQ(ShouldRun(Existing::kForce, row.status), row.force) << row.status.value_or("-");
  }
}

}  // namespace
}  // namespace ringside
