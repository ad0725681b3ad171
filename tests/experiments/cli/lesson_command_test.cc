// `ringside lesson` from outside: its list, its refusals, grades, and what a signal leaves behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/experiments/cli/ringside_process.h"

namespace ringside {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LessonCommand : public RingsideProcessTest {};

TEST_F(LessonCommand, ListsTheLessons) {
  const ProcessResult text = RunRingside("lesson");
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out, HasSubstr("10  frozen-server"));
  const json list = json::parse(RunRingside("lesson --json").out);
  EXPECT_EQ(list["schema"], "ringside.lessons/1");
  EXPECT_EQ(list["lessons"].size(), 10U);
}

TEST_F(LessonCommand, RefusesWhatIsNoLessonAndNoPrediction) {
  for (const auto& [args, message] : std::initializer_list<std::pair<const char*, const char*>>{
           {"lesson 11", "there is no lesson 11"},
           {"lesson 0", "there is no lesson 0"},
           {"lesson ring", "'ring'"},
           {"lesson 2 --predict many", "--predict"},
           {"lesson 2 --predict nan", "--predict"},
           {"lesson 2 3", "unexpected argument '3'"},
           {"lesson 2 --guess 3", "unknown flag"}}) {
    const ProcessResult result = RunRingside(args);
    EXPECT_EQ(result.exit_code, 2) << args;
    EXPECT_THAT(result.err, HasSubstr(message)) << args;
    EXPECT_THAT(result.out, IsEmpty()) << args;
  }
  EXPECT_FALSE(std::filesystem::exists(scratch() + "/results"));
}

TEST_F(LessonCommand, GradesByItsExitCode) {
  const ProcessResult wrong = RunRingside("lesson 2 --quick --json --predict 7");
  EXPECT_EQ(wrong.exit_code, 5) << wrong.err;
  EXPECT_EQ(json::parse(wrong.out)["within"], false);
  EXPECT_THAT(wrong.err, HasSubstr("[1/3] ringside train --strategy ring")) << "progress";
  // The same directory again.
  const ProcessResult right = RunRingside("lesson 2 --quick --quiet --predict 1.75");
  EXPECT_EQ(right.exit_code, 0) << right.err;
  EXPECT_THAT(right.err, IsEmpty());
  EXPECT_THAT(right.out, HasSubstr("right, within the tolerance of 2 %"));
  EXPECT_TRUE(std::filesystem::exists(scratch() + "/results/lessons/2/workers-8/summary.json"));
}

TEST_F(LessonCommand, AnswersWithoutAPredictionOffATerminal) {
  const ProcessResult result = RunRingside("lesson 2 --quick --json --out 'a folder'");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("no prediction is graded"));
  const json answer = json::parse(result.out);
  EXPECT_TRUE(answer["prediction"].is_null());
  EXPECT_TRUE(answer["within"].is_null());
  EXPECT_EQ(answer["runs"][0], "a folder/workers-2");
  EXPECT_THAT(answer["commands"][0].get<std::string>(), HasSubstr("--out 'a folder/workers-2'"));
}

TEST_F(LessonCommand, ALessonThatNeedsLinksSaysSoWithoutThem) {
  const ProcessResult result = RunRingside("lesson 5 --loopback --predict 315");
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr("emulated links"));
}

TEST_F(LessonCommand, ASignalEndsTheLessonAndItsRun) {
  const ProcessResult result =
      RunRingside("lesson 7 --predict 3 --out runs", "timeout --preserve-status --signal=INT 2");
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_THAT(result.err, HasSubstr("interrupted"));
  EXPECT_THAT(result.out, IsEmpty());
}

TEST_F(LessonCommand, ARunThatFailsIsNamedWithItsLine) {
  const ProcessResult result =
      RunRingside("lesson 2 --quick --predict 1", "RINGSIDE_TIMEOUT=never");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("a run ended with code 2"));
  EXPECT_THAT(result.err, HasSubstr("RINGSIDE_TIMEOUT"));
}

}  // namespace
}  // namespace ringside
