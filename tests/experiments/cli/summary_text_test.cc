#include "ringside/experiments/cli/summary_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ringside {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string TextOf(const nlohmann::json& summary) {
  return SummaryText({.status = JobStatus::kDone, .error = {}, .summary = summary}, Painter());
}

TEST(SummaryText, NotesThatCountedStepsStillContainWarmUp) {
  nlohmann::json summary{{"steps", 60}, {"warmup_steps", 3}, {"warmup_detected", 15}};
  summary["warmup_short"] = true;
  EXPECT_THAT(TextOf(summary), HasSubstr("note: the counted steps still contain warm-up: by MSER-5 "
                                         "the first 15 steps belong to it, and --warmup-steps left "
                                         "out 3\n"));
  summary["warmup_detected"] = nullptr;
  EXPECT_THAT(TextOf(summary), HasSubstr("had not settled by half of the run"));
}

TEST(SummaryText, HasNoNoteWhereNothingIsWrongOrKnown) {
  nlohmann::json summary{{"steps", 60}, {"warmup_steps", 3}, {"warmup_detected", 15}};
  for (const nlohmann::json& verdict : {nlohmann::json(false), nlohmann::json()}) {
    summary["warmup_short"] = verdict;
    EXPECT_THAT(TextOf(summary), Not(HasSubstr("note:"))) << verdict;
  }
  EXPECT_THAT(TextOf({{"steps", 60}}), Not(HasSubstr("note:"))) << "an older summary";
}

TEST(SummaryText, NamesEveryLostWorker) {
  nlohmann::json summary{{"steps", 60}, {"lost_workers", nlohmann::json::array()}};
  EXPECT_THAT(TextOf(summary), Not(HasSubstr("lost worker")));
  const nlohmann::json lost{
      {"worker", 2}, {"step", 7}, {"reason", "worker 2 (pid 4) was killed by signal 9"}};
  summary["lost_workers"].push_back(lost);
  EXPECT_THAT(
      TextOf(summary),
      HasSubstr("  lost worker 2, last heard of before step 7: worker 2 (pid 4) was killed by "
                "signal 9\n"));
}

TEST(SummaryText, MakesControlCharactersHarmless) {
  const nlohmann::json lost{{"worker", 2}, {"step", 7}, {"reason", "killed\033]0;x\a"}};
  const nlohmann::json summary{{"lost_workers", nlohmann::json::array({lost})}};
  const std::string text = SummaryText(
      {.status = JobStatus::kFailed, .error = "no\033[2Jerror", .summary = summary}, Painter());
  EXPECT_THAT(text, HasSubstr("no\\x1b[2Jerror"));
  EXPECT_THAT(text, HasSubstr("killed\\x1b]0;x\\x07"));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
}

TEST(SummaryText, TellsTheFidelityOfAnEmulatedRun) {
  const nlohmann::json limited{{"verdict", "limited"}, {"limited_by", {"the processor: 4 % idle"}}};
  EXPECT_THAT(TextOf({{"fidelity", limited}}),
              HasSubstr("  fidelity: limited by the processor: 4 % idle\n"));
  EXPECT_THAT(TextOf({{"fidelity", nullptr}}), Not(HasSubstr("fidelity")));
}

}  // namespace
}  // namespace ringside
