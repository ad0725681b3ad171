// Reads event files back with the real tensorboard package, which scripts/python-venv.sh
// installs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ringside/experiments/report/render/tensorboard.h"
#include "ringside/experiments/report/runs/bundle_reader.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/report/finish_process.h"
#include "tests/experiments/report/synthetic_study.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

using nlohmann::json;

TEST(TensorBoardRead, TheRealPackageReadsWhatWasMeasured) {
  const TemporaryDirectory scratch;
  WriteSyntheticStudy({.link_bits_per_s = {1e9}, .workers = {2}, .repetitions = 1}, scratch.path());
  const StudyTable table = MakeStudyTable(ReadStudy(scratch.path(), TestCatalog()));
  ASSERT_EQ(WriteTensorBoard(table, scratch.path() + "/tb"), 5);

  const FinishedProcess venv = FinishProcess({RINGSIDE_PYTHON_VENV, "tensorboard==2.20.0"});
  ASSERT_EQ(venv.exit_code, 0) << venv.output;
  const std::string python = LastLine(venv.output);
  const FinishedProcess read =
      FinishProcess({"/bin/sh", "-c", "exec \"$0\" -B \"$1\" \"$2\" 2>/dev/null", python,
                     RINGSIDE_READ_EVENTS, scratch.path() + "/tb"});
  ASSERT_EQ(read.exit_code, 0) << read.output;
  const json runs = json::parse(read.output);
  ASSERT_EQ(runs.size(), 5U);
  for (const StudyCell& cell : table.cells) {
    const StudyRun& run = cell.results.front();
    const std::string servers = cell.servers > 0 ? "-1-servers" : "";
    const json& tags = runs.at(cell.strategy + "/2-workers" + servers + "/" + run.run_id);
    const json& loss = tags.at("loss/train");
    ASSERT_EQ(loss.size(), 60U);
    EXPECT_EQ(loss[0][0], 1);
    EXPECT_NEAR(loss[0][2].get<double>(), 2.3, 1e-6);
    EXPECT_EQ(loss[59][0], 60);
    EXPECT_NEAR(tags.at("time/step_ms")[7][2].get<double>() / *run.step_ms, 1, 1e-6);
    EXPECT_NEAR(tags.at("throughput/samples_per_s")[7][2].get<double>() / *run.samples_per_s, 1,
                1e-6);
    ASSERT_EQ(tags.at("accuracy/held_out").size(), 12U);
    EXPECT_NEAR(tags.at("accuracy/held_out")[11][2].get<double>(), *run.curve.back().accuracy,
                1e-6);
    EXPECT_GT(loss[59][1].get<double>(), loss[0][1].get<double>()) << "time goes on";
  }
}

}  // namespace
}  // namespace ringside
