#include "ringside/experiments/report/cells/study_constants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ringside/experiments/report/render/study_render.h"
#include "ringside/experiments/spec/spec_keys.h"
#include "tests/experiments/report/study/study_testing.h"

namespace ringside {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<RunResult> Runs() {
  std::vector<RunResult> runs{OneRun("ring", 4, 1000, 0), OneRun("ps-sync", 4, 900, 0)};
  for (RunResult& run : runs) {
    SetSpecKey(run.spec, "model", "profile:vgg16");
    SetSpecKey(run.spec, "compute-ms", "30");
    SetSpecKey(run.spec, "network", "100Mbps");
    SetSpecKey(run.spec, "steps", "20");
  }
  return runs;
}

TEST(StudyConstants, AreWhatAllRunsShareInWords) {
  EXPECT_THAT(ConstantsOf(Runs()),
              ElementsAre("4 workers", "model profile:vgg16", "30 ms of compute", "at 100 Mbit/s",
                          "64 samples a step", "20 steps"));
  EXPECT_THAT(ConstantsOf({}), ElementsAre());
}

TEST(StudyConstants, LeaveOutWhatDiffers) {
  std::vector<RunResult> runs = Runs();
  SetSpecKey(runs[1].spec, "network", "1Gbps");
  runs[1].spec.workers = 8;
  EXPECT_THAT(ConstantsOf(runs), Not(Contains(HasSubstr("bit/s"))));
  EXPECT_THAT(ConstantsOf(runs), Not(Contains(HasSubstr("worker"))));
}

TEST(StudyConstants, LeaveOutWhatAProgramDecides) {
  std::vector<RunResult> runs{OneRun("ring", 2, 1000, 0), OneRun("ps-sync", 2, 900, 0)};
  for (RunResult& run : runs) {
    run.spec.program = {"python3", "train.py"};
    run.spec.batch_per_worker = 1;
    run.spec.steps = 0;
  }
  const std::vector<std::string> constants = ConstantsOf(runs);
  EXPECT_THAT(constants, Contains(HasSubstr("train.py")));
  EXPECT_THAT(constants, Not(Contains(HasSubstr("sample"))));
  EXPECT_THAT(constants, Not(Contains(HasSubstr("epoch"))));
}

TEST(StudyConstants, AReportSaysThemOnceAndFirst) {
  const std::string text = RenderText(TableOf(Runs()));
  const std::string line = "All runs: 4 workers, model profile:vgg16, 30 ms of compute";
  EXPECT_THAT(text, HasSubstr("\n\n" + line));
  EXPECT_EQ(text.find("profile:vgg16"), text.rfind("profile:vgg16"));
  EXPECT_THAT(RenderJson(TableOf(Runs()))["constants"], Contains("20 steps"));
}

}  // namespace
}  // namespace ringside
