// `ringside demo` without RUN: it trains both families itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/experiments/cli/ringside_process.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

class DemoTraining : public RingsideProcessTest {
 protected:
  json Summary(const std::string& strategy) const {
    return json::parse(std::ifstream(scratch() + "/shown/" + strategy + "/summary.json"));
  }
};

TEST_F(DemoTraining, TrainsBothFamiliesAndWritesTheirPage) {
  const ProcessResult demo = RunRingside("demo --no-open --out shown");
  ASSERT_EQ(demo.exit_code, 0) << demo.err;
  EXPECT_EQ(demo.out, "shown/demo.html\n");
  EXPECT_LT(fs::file_size(scratch() + "/shown/demo.html"), std::uintmax_t{2} << 20);
  const bool loopback = demo.err.find("links are not emulated here") != std::string::npos;
  for (const std::string strategy : {"ring", "ps-sync"}) {
    const json summary = Summary(strategy);
    EXPECT_EQ(summary["status"], "done");
    EXPECT_EQ(summary["strategy"], strategy);
    EXPECT_EQ(summary["workers"], 4);
    EXPECT_EQ(summary["dataset"], "digits");
    EXPECT_EQ(summary["network"].is_null(), loopback) << demo.err;
  }
  const ProcessResult check = RunRingside("demo --check shown/ring shown/ps-sync");
  EXPECT_EQ(check.exit_code, 0) << check.out << check.err;
}

TEST_F(DemoTraining, EndsWithTheCodeOfTheRunThatFailed) {
  std::ofstream(scratch() + "/shown") << "a file where the directory should be";
  const ProcessResult demo = RunRingside("demo --no-open --out shown");
  EXPECT_NE(demo.exit_code, 0);
  EXPECT_THAT(demo.err, HasSubstr("shown"));
  EXPECT_EQ(demo.out, "");
}

}  // namespace
}  // namespace ringside
