#include "ringside/experiments/lesson/lesson_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

namespace ringside {
namespace {

using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::ptrdiff_t Words(const std::string& text) {
  std::istringstream in(text);
  return std::distance(std::istream_iterator<std::string>(in), {});
}

TEST(LessonTable, HasTenLessonsWithNumbersAndNames) {
  const std::vector<Lesson> lessons = Lessons();
  ASSERT_EQ(lessons.size(), 10U);
  std::set<std::string> names;
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    EXPECT_EQ(lessons[i].number, static_cast<int>(i) + 1);
    EXPECT_TRUE(names.insert(lessons[i].name).second) << lessons[i].name;
  }
}

TEST(LessonTable, AsksAndExplainsInAHundredWords) {
  for (const Lesson& lesson : Lessons()) {
    SCOPED_TRACE(lesson.name);
    EXPECT_THAT(lesson.question, EndsWith("?"));
    EXPECT_FALSE(lesson.quantity.empty());
    EXPECT_FALSE(lesson.unit.empty());
    EXPECT_GT(lesson.tolerance, 0);
    EXPECT_GE(Words(lesson.explanation), 80);
    EXPECT_LE(Words(lesson.explanation), 125);
    EXPECT_GE(Words(lesson.mistake), 15);
  }
}

TEST(LessonTable, KeepsEveryBundleInTheDirectoryOfTheLesson) {
  for (const Lesson& lesson : Lessons()) {
    SCOPED_TRACE(lesson.name);
    for (const bool quick : {true, false}) {
      std::set<std::string> names;
      for (const LessonRun& run : lesson.plan({"a folder", quick, true})) {
        EXPECT_TRUE(names.insert(run.name).second) << run.name;
        if (run.bundle.empty()) continue;
        EXPECT_THAT(run.bundle, StartsWith("a folder/"));
        EXPECT_THAT(run.words, Contains(run.bundle)) << "the path is one word";
      }
    }
  }
}

TEST(LessonTable, RunsLessWhereItIsQuick) {
  const auto cost = [](const Lesson& lesson, bool quick) {
    std::string all;
    for (const LessonRun& run : lesson.plan({"d", quick, true})) {
      for (const std::string& word : run.words) all += word + " ";
    }
    return all;
  };
  for (const Lesson& lesson : Lessons()) {
    EXPECT_NE(cost(lesson, true), cost(lesson, false)) << lesson.name;
    EXPECT_LE(cost(lesson, true).size(), cost(lesson, false).size()) << lesson.name;
  }
}

TEST(LessonTable, EmulatesNoLinkOnLoopback) {
  for (const Lesson& lesson : Lessons()) {
    if (lesson.links == NeedOfLinks::kRequired) continue;
    for (const LessonRun& run : lesson.plan({"d", false, false})) {
      EXPECT_THAT(run.words, Not(Contains("--network"))) << lesson.name;
    }
  }
}

// scripts/lesson_pages.py makes them.
TEST(LessonTable, ThePagesHaveTheSameTexts) {
  for (const Lesson& lesson : Lessons()) {
    std::string path = RINGSIDE_LESSON_PAGES "/";
    path += std::to_string(lesson.number) + "-" + lesson.name + ".md";
    std::ifstream file(path);
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    for (const std::string& text : {lesson.question, lesson.explanation, lesson.mistake}) {
      EXPECT_THAT(page, HasSubstr(text)) << path;
    }
  }
}

}  // namespace
}  // namespace ringside
