// Runs the conformance tests of one strategy, those whose name has the name of `OwnStrategy()`, and
// prints how it did in each stage of the assignment (docs/teaching.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "tests/experiments/test_catalog.h"

namespace {

struct Stage {
  const char* part;  ///< Of the names of its tests.
  const char* what;
  int run = 0;
  int failed = 0;
};

class StagePrinter : public testing::EmptyTestEventListener {
 public:
  void OnTestEnd(const testing::TestInfo& test) override {
    const std::string name = std::string(test.test_suite_name()) + "." + test.name();
    const auto stage = std::ranges::find_if(
        stages_, [&](const Stage& one) { return name.find(one.part) != std::string::npos; });
    ++stage->run;
    if (test.result()->Failed()) ++stage->failed;
  }

  void OnTestProgramEnd(const testing::UnitTest& /*all*/) override {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const Stage& stage = stages_[i];
      if (stage.run == 0) continue;
      std::printf("stage %zu, %s: ", i + 1, stage.what);
      if (stage.failed == 0) {
        std::printf("passed, %d tests\n", stage.run);
      } else {
        std::printf("FAILED, %d of %d tests\n", stage.failed, stage.run);
      }
    }
  }

 private:
  std::array<Stage, 4> stages_{Stage{"EndsWithTheExact", "the exact sum"},
                               Stage{"StartTogether", "workers that start together"},
                               Stage{"Waiting", "workers that wait for one that is gone"},
                               Stage{"", "the rest of the contract"}};
};

/// Leaves out the tests of other strategies. A filter of the caller stays.
void KeepTestsOf(const std::string& strategy) {
  std::string part = "/";
  part += strategy;
  part += '_';
  std::ranges::replace(part, '-', '_');
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  std::string filter = GTEST_FLAG_GET(filter);
  filter += filter.find('-') == std::string::npos ? "-" : ":";
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      std::string name = suite.name();
      name += '.';
      name += suite.GetTestInfo(j)->name();
      if (name.find(part) == std::string::npos) filter += name += ':';
    }
  }
  GTEST_FLAG_SET(filter, filter);
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  KeepTestsOf(OwnStrategy().name);
  if (!GTEST_FLAG_GET(list_tests)) {
    testing::UnitTest::GetInstance()->listeners().Append(new StagePrinter);
  }
  const int code = RUN_ALL_TESTS();
  return testing::UnitTest::GetInstance()->test_to_run_count() == 0 ? 1 : code;
}
