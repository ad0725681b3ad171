// Every lesson for real, in its quick form: the exit code says that theory's prediction is within
// the tolerance, unless the machine limited the runs, and the runs show every claim.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "tests/experiments/cli/ringside_process.h"

namespace ringside {
namespace {

using nlohmann::json;

constexpr int kMissingBackend = 4;

struct Prediction {
  int lesson;
  const char* theory;
};

void PrintTo(const Prediction& prediction, std::ostream* out) {
  *out << "lesson " << prediction.lesson;
}

std::string NameOf(const testing::TestParamInfo<Prediction>& tested) {
  return "n" + std::to_string(tested.param.lesson);
}

class LessonRunsTest : public RingsideProcessTest, public testing::WithParamInterface<Prediction> {
 protected:
  void ExpectTheoryIsRight(const std::string& flags) {
    const auto& [lesson, theory] = GetParam();
    const ProcessResult result =
        RunRingside("lesson " + std::to_string(lesson) + " --quick --json --predict " + theory +
                    " --out runs" + flags);
    // A machine that limits a run prints its answer all the same, and all claims must hold.
    if (result.exit_code == kMissingBackend && result.out.empty()) GTEST_SKIP() << result.err;
    ASSERT_TRUE(json::accept(result.out)) << result.exit_code << result.out << result.err;
    const json answer = json::parse(result.out);
    ASSERT_EQ(result.exit_code, answer.at("limited").empty() ? 0 : kMissingBackend)
        << result.out << result.err;
    for (const json& check : answer.at("checks")) {
      EXPECT_TRUE(check.at("held").get<bool>()) << check.at("claim") << answer.at("figures");
    }
  }
};

TEST_P(LessonRunsTest, TheoryIsWithinTheTolerance) { ExpectTheoryIsRight(""); }

INSTANTIATE_TEST_SUITE_P(Lessons, LessonRunsTest,
                         testing::Values(Prediction{1, "2"}, Prediction{2, "1.75"},
                                         Prediction{3, "3"}, Prediction{4, "3"},
                                         Prediction{5, "315"}, Prediction{6, "1.75"},
                                         Prediction{7, "3"}, Prediction{8, "0"},
                                         Prediction{9, "3.64"}, Prediction{10, "5"}),
                         NameOf);

class LoopbackLessonsTest : public LessonRunsTest {};

TEST_P(LoopbackLessonsTest, BytesGiveTheSameAnswer) { ExpectTheoryIsRight(" --loopback"); }

INSTANTIATE_TEST_SUITE_P(Lessons, LoopbackLessonsTest,
                         testing::Values(Prediction{1, "2"}, Prediction{3, "3"},
                                         Prediction{9, "4"}),
                         NameOf);

}  // namespace
}  // namespace ringside
