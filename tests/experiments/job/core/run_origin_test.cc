#include "ringside/experiments/job/core/run_origin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

using ::testing::IsEmpty;

TEST(RunOrigin, TheSummaryCountsWhatIsDoneAgain) {
  RunOrigin origin;
  origin.generations = {
      {.workers = 2, .steps = {.first = 0, .done = {9, 11}}, .updates_alone = true, .error = "a"},
      {.workers = 2, .steps = {}, .updates_alone = true, .error = "ended before its first step"},
      {.workers = 2, .steps = {.first = 4, .done = {7, 3}}, .updates_alone = false, .error = "c"}};
  nlohmann::json summary;
  origin.AddTo(summary, 6);
  const nlohmann::json& failed = summary["failed_generations"];
  ASSERT_EQ(failed.size(), 3U);
  EXPECT_EQ(failed[0]["error"], "a");
  EXPECT_EQ(failed[0]["steps_repeated"], 5) << "up to where the third one began";
  EXPECT_EQ(failed[0]["updates_repeated"], 5 + 7);
  EXPECT_EQ(failed[1]["steps_done"], 0);
  EXPECT_EQ(failed[1]["steps_repeated"], 0);
  EXPECT_EQ(failed[2]["steps_repeated"], 1);
  EXPECT_TRUE(failed[2]["updates_repeated"].is_null()) << "the workers step together";
  origin.AddTo(summary, std::nullopt);
  EXPECT_TRUE(summary["failed_generations"][2]["steps_repeated"].is_null()) << "nobody knows";
}

TEST(RunOrigin, TheSummaryListsFailedGenerations) {
  nlohmann::json summary{{"run_id", "x"}};
  RunOrigin origin;
  origin.AddTo(summary, 0);
  EXPECT_EQ(summary["restarts"], 0);
  EXPECT_THAT(summary["failed_generations"], IsEmpty());
  EXPECT_EQ(summary["run_id"], "x");
  origin.generations.push_back({.workers = 3,
                                .steps = {.first = 0, .done = {9, 9, 8}},
                                .seconds = 2,
                                .error = "why",
                                .failure = FailureRecord(FailureKind::kLost, "worker 1", 1.5),
                                .last_words = {{"text", "worker 1 has failed"}}});
  origin.asked = ProfileSpec("ring", 4, 20);
  origin.AddTo(summary, 4);
  EXPECT_EQ(summary["restarts"], 1);
  EXPECT_EQ(summary["failed_generations"][0]["workers"], 3);
  EXPECT_EQ(summary["failed_generations"][0]["error"], "why");
  EXPECT_EQ(summary["failed_generations"][0]["failure"],
            (nlohmann::json{{"kind", "lost"}, {"member", "worker 1"}, {"seconds", 1.5}}));
  EXPECT_EQ(summary["failed_generations"][0]["last_words"],
            (nlohmann::json{{"text", "worker 1 has failed"}}));
  EXPECT_EQ(summary["failed_generations"][0]["steps_done"], 9);
  EXPECT_EQ(summary["run_id"], RunId(*origin.asked));
}

}  // namespace
}  // namespace ringside
