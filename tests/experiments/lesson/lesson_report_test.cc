#include "ringside/experiments/lesson/lesson_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "ringside/experiments/lesson/lesson_table.h"
#include "tests/common/temporary_directory.h"

namespace ringside {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

LessonOutcome SomeOutcome() {
  return {.answer = {.value = 1.96,
                     .interval = LessonInterval{1.9, 2.1, "95 %, over rounds"},
                     .bound = 2,
                     .figures = {{"a step", 490, "ms", 469}, {"no bound", 1, "MB"}},
                     .checks = {{"a claim", true}, {"another one", false}}},
          .commands = {"ringside train --workers 2"},
          .bundles = {"d/workers-2"},
          .seconds = 12};
}

class LessonReportTest : public testing::Test {
 protected:
  LessonReport Report(std::optional<double> prediction) {
    return {lesson_, setting_, outcome_, prediction};
  }

  const Lesson lesson_ = Lessons().front();
  LessonSetting setting_{"d", false, true};
  LessonOutcome outcome_ = SomeOutcome();
};

TEST_F(LessonReportTest, TextHasAnswerTableClaimsAndCommands) {
  const std::string text = LessonText(Report(2));
  for (const char* part :
       {"measured    1.96 times", "interval    1.9 to 2.1 (95 %, over rounds)",
        "theory      2 times", "prediction  2 times: right, within the tolerance of 15 %",
        "yes  a claim", "NO   another one", "  ringside train --workers 2\n",
        "docs/lessons/1-one-server.md"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(LessonText(Report(3)), HasSubstr("not right, outside the tolerance"));
  EXPECT_THAT(LessonText(Report(std::nullopt)), Not(HasSubstr("prediction")));
}

TEST_F(LessonReportTest, LinesOfTextAreShort) {
  std::istringstream lines(LessonText(Report(2)));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 90U) << line;
}

TEST_F(LessonReportTest, JsonHasWhatAGraderReads) {
  const json right = LessonJson(Report(2));
  EXPECT_EQ(right["schema"], "ringside.lesson/1");
  EXPECT_EQ(right["lesson"], 1);
  EXPECT_EQ(right["prediction"], 2);
  EXPECT_EQ(right["within"], true);
  EXPECT_EQ(right["answer"]["value"], 1.96);
  EXPECT_EQ(right["answer"]["interval"]["low"], 1.9);
  EXPECT_EQ(right["answer"]["bound"], 2);
  EXPECT_EQ(right["figures"].size(), 2U);
  EXPECT_TRUE(right["figures"][1]["bound"].is_null());
  EXPECT_EQ(right["checks"][1]["held"], false);
  EXPECT_EQ(right["commands"], json({"ringside train --workers 2"}));
  EXPECT_EQ(right["runs"], json({"d/workers-2"}));
  EXPECT_EQ(LessonJson(Report(3))["within"], false);
  EXPECT_TRUE(LessonJson(Report(std::nullopt))["within"].is_null());
}

TEST_F(LessonReportTest, JudgesNoPredictionByRunsThatTheMachineLimited) {
  outcome_.limited = {"workers-8: the processors were busy"};
  const json judged = LessonJson(Report(2));
  EXPECT_TRUE(judged["within"].is_null());
  EXPECT_EQ(judged["limited"], json({"workers-8: the processors were busy"}));
  EXPECT_EQ(judged["answer"]["value"], 1.96);
  const std::string text = LessonText(Report(2));
  EXPECT_THAT(text, HasSubstr("prediction  2 times: not judged, because of the runs named below"));
  EXPECT_THAT(text, HasSubstr("workers-8: the processors were busy"));
  EXPECT_FALSE(IsRight(Report(2)).has_value());
  outcome_.limited.clear();
  EXPECT_EQ(IsRight(Report(2)), true);
  EXPECT_EQ(IsRight(Report(3)), false);
  EXPECT_FALSE(IsRight(Report(std::nullopt)).has_value());
}

TEST_F(LessonReportTest, SaysThatItCountedBytes) {
  EXPECT_THAT(LessonText(Report(2)), Not(HasSubstr("emulates no links")));
  setting_.emulated = false;
  EXPECT_THAT(LessonText(Report(2)), HasSubstr("emulates no links"));
  EXPECT_EQ(LessonJson(Report(2))["links"], "loopback");
}

TEST_F(LessonReportTest, OffersThePageOfRecordedRuns) {
  const TemporaryDirectory directory;
  outcome_.bundles.clear();
  for (const char* name : {"a", "b", "c"}) {
    const std::string bundle = directory.path() + "/" + name;
    std::filesystem::create_directory(bundle);
    outcome_.bundles.push_back(bundle);
  }
  EXPECT_TRUE(LessonJson(Report(2))["demo"].is_null());
  for (const char* name : {"/b", "/c"}) std::ofstream(directory.path() + name + "/chunks.jsonl");
  const std::string line = "ringside demo " + directory.path() + "/b " + directory.path() + "/c";
  EXPECT_EQ(LessonJson(Report(2))["demo"], line);
  EXPECT_THAT(LessonText(Report(2)), HasSubstr(line));
}

TEST(LessonList, NamesAllLessons) {
  const std::vector<Lesson> lessons = Lessons();
  const json list = LessonListJson(lessons);
  EXPECT_EQ(list["schema"], "ringside.lessons/1");
  ASSERT_EQ(list["lessons"].size(), lessons.size());
  EXPECT_EQ(list["lessons"][4]["emulated_links"], "required");
  for (const Lesson& lesson : lessons) EXPECT_THAT(LessonListText(lessons), HasSubstr(lesson.name));
}

}  // namespace
}  // namespace ringside
