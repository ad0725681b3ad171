// Runs the whole quickstart, with libtorch, and checks what README promises.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/experiments/cli/ringside_process.h"

namespace ringside {
namespace {

using nlohmann::json;

class Quickstart : public RingsideProcessTest {};

TEST_F(Quickstart, EverySynchronousStrategyLearnsTheDigits) {
  const ProcessResult run = RunRingside(std::string("matrix ") + RINGSIDE_QUICKSTART_SPEC);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const ProcessResult report = RunRingside("report results/quickstart --json");
  ASSERT_EQ(report.exit_code, 0) << report.err;
  const json study = json::parse(report.out);
  EXPECT_EQ(study["cells"].size(), 15U);
  std::set<std::string> seen;
  for (const json& cell : study["cells"]) {
    const auto strategy = cell["strategy"].get<std::string>();
    seen.insert(strategy);
    EXPECT_EQ(cell["failed"], 0);
    EXPECT_GT(cell["step_ms"].get<double>(), 0);
    EXPECT_GT(cell["speedup"].get<double>(), 0);
    const bool synchronous = strategy != "none" && strategy != "ps-async";
    if (synchronous || cell["workers"] == 1) {
      EXPECT_GE(cell["accuracy"].get<double>(), 0.95) << cell.dump(2);
    }
  }
  EXPECT_EQ(seen.size(), 5U);
}

}  // namespace
}  // namespace ringside
