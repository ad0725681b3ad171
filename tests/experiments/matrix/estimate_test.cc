#include "ringside/experiments/matrix/estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ringside/experiments/matrix/journal.h"
#include "tests/experiments/matrix/matrix_runner_testing.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST_F(MatrixRunnerTest, EstimatesFromTheJournal) {
  fs::create_directories(directory_);
  std::ofstream(directory_ / "journal.jsonl")
      << R"({"kind":"ring/1","status":"done","seconds":1})" << '\n'
      << R"({"kind":"ring/2","status":"done","seconds":3})" << '\n'
      << R"({"kind":"ring/2","status":"failed","seconds":1000})" << '\n'
      << R"({"kind":"ring/4","status":"done","seconds":9})" << '\n'
      << R"({"kind":"ring/3","sta)";
  // The runs with 1, 2 and 4 workers take what was timed. The one with 3 takes the median of all.
  const Estimate estimate = EstimateTime(runs_, Journal(directory_).Read());
  EXPECT_EQ(estimate.seconds, 1 + 3 + 9 + 3);
  EXPECT_EQ(estimate.timed, 4);
}

TEST_F(MatrixRunnerTest, EstimatesFromItsOwnRepetitionsFirst) {
  const std::vector<JournalLine> journal{{.run_id = "a",
                                          .label = "",
                                          .kind = "ring/1",
                                          .cell = "another",
                                          .status = "done",
                                          .seconds = 50},
                                         {.run_id = "b",
                                          .label = "",
                                          .kind = "ring/1",
                                          .cell = CellOf(runs_[0].spec),
                                          .status = "done",
                                          .seconds = 2}};
  PlannedRun again = runs_[0];
  again.spec.repetition = 7;
  EXPECT_EQ(EstimateTime({again}, journal).seconds, 2);
}

std::vector<PlannedRun> PlanOf(const std::string& defaults) {
  return PlanMatrix(ParseMatrixSpec("name: a\ndefaults: " + defaults + "\naxes: {workers: [2]}\n",
                                    "s.yaml", TestCatalog()));
}

TEST(Estimate, CountsTimeDilation) {
  const std::string run = "{model: 'profile:vgg16', steps: 100, compute-ms: 5000, network: 1Gbps";
  const Estimate plain = EstimateTime(PlanOf(run + "}"), {});
  const Estimate dilated = EstimateTime(PlanOf(run + ", dilation: 4}"), {});
  EXPECT_DOUBLE_EQ(dilated.seconds - kNominalOverheadSeconds,
                   4 * (plain.seconds - kNominalOverheadSeconds));
}

TEST(Estimate, CalculatesWhereNothingWasTimed) {
  const Estimate compute =
      EstimateTime(PlanOf("{model: 'profile:vgg16', steps: 100, compute-ms: 50}"), {});
  EXPECT_DOUBLE_EQ(compute.seconds, kNominalOverheadSeconds + 100 * 0.050);
  EXPECT_EQ(compute.calculated, 1);
  EXPECT_THAT(compute.Text(), HasSubstr("compute-ms"));
  // A ring of two sends each of VGG-16's 138.4 million parameters once, in 4 bytes. That takes over
  // 4 s at 1 Gbit/s, far longer than the compute.
  const Estimate wire =
      EstimateTime(PlanOf("{model: 'profile:vgg16', steps: 100, compute-ms: 50, link: 1Gbps}"), {});
  EXPECT_NEAR(wire.seconds, 100 * 138.36e6 * 4 / (1e9 * 1448 / 1514 / 8), 5);
}

}  // namespace
}  // namespace ringside
