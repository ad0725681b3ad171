// Tests the page of a large study in a real browser. browser_check.py has the checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/common/temporary_directory.h"
#include "tests/experiments/report/finish_process.h"
#include "tests/experiments/report/synthetic_study.h"

namespace ringside {
namespace {

TEST(Browser, ShowsAStudyOfFiveHundredRuns) {
  const TemporaryDirectory scratch;
  SyntheticStudy study;
  study.hostile_names = HostileNames();
  WriteSyntheticStudy(study, scratch.path() + "/study");
  const FinishedProcess report =
      FinishProcess({RINGSIDE_EXECUTABLE, "report", scratch.path() + "/study"});
  ASSERT_EQ(report.exit_code, 0) << report.output;
  std::ofstream(scratch.path() + "/names.json") << nlohmann::json(HostileNames());
  const FinishedProcess used =
      FinishProcess({RINGSIDE_SYSTEM_PYTHON, "-B", RINGSIDE_BROWSER_CHECK,
                     scratch.path() + "/study", scratch.path() + "/names.json"});
  std::fputs(used.output.c_str(), stdout);
  EXPECT_EQ(used.exit_code, 0) << used.output;
  EXPECT_THAT(used.output, ::testing::HasSubstr("500 runs are in the table"));
}

}  // namespace
}  // namespace ringside
