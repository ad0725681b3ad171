// Tests a program with extensions: its own entries, through its own command line and
// processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/experiments/cli/ringside_process.h"

namespace ringside {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

constexpr char kWorkload[] = " --model own-model --data own-data --workers 2 --global-batch 8 ";

class ExtendedProgramTest : public RingsideProcessTest {
 protected:
  json Json(const std::string& args) const {
    const ProcessResult result = RunRingside(args);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out, nullptr, false);
  }
};

std::set<std::string> Names(const json& rows) {
  std::set<std::string> names;
  for (const json& row : rows) names.insert(row.at("name").get<std::string>());
  return names;
}

TEST_F(ExtendedProgramTest, ListsItsOwnEntriesBesideOurs) {
  const json list = Json("list --json");
  EXPECT_THAT(Names(list.at("strategies")),
              IsSupersetOf({"ring", "own-strategy", "own-collective", "own-consistency"}));
  EXPECT_THAT(Names(list.at("models")), IsSupersetOf({"profile:resnet50", "own-model"}));
  EXPECT_THAT(Names(list.at("datasets")), IsSupersetOf({"digits", "own-data"}));
}

TEST_F(ExtendedProgramTest, TrainsUnderThemInItsOwnProcesses) {
  for (const std::string strategy : {"own-strategy --laps 5", "own-collective", "own-consistency",
                                     "ps-sync --ps-transport own-transport"}) {
    const json summary =
        Json("train --quiet --json --steps 12 --out " + strategy.substr(0, strategy.find(' ')) +
             kWorkload + "--strategy " + strategy);
    EXPECT_EQ(summary.value("status", ""), "done") << strategy;
    EXPECT_EQ(summary.value("steps", 0), 12) << strategy;
  }
}

TEST_F(ExtendedProgramTest, VerifiesThem) {
  const json verified = Json(
      "verify --quiet --json --repeat none --optimizers sgd --servers 1 --model own-model "
      "--data own-data --workers 2 --steps 10 --global-batch 8 --strategies "
      "own-strategy,own-collective,own-consistency");
  EXPECT_TRUE(verified.value("ok", false)) << verified;
  EXPECT_EQ(verified.at("rows").size(), 3U);
}

TEST_F(ExtendedProgramTest, ChecksItsOptionsLikeOurs) {
  EXPECT_THAT(RunRingside("train --help").out, HasSubstr("--laps N"));
  EXPECT_THAT(RunRingside("train --help").out, HasSubstr("uds, shm and own-transport"));
  const ProcessResult small =
      RunRingside(std::string("train --strategy own-strategy --laps 0") + kWorkload);
  EXPECT_EQ(small.exit_code, 2);
  EXPECT_THAT(small.err, HasSubstr("--laps: 0 is out of range"));
  const ProcessResult other =
      RunRingside(std::string("train --strategy ring --laps 3") + kWorkload);
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("strategy 'ring' does not read it; own-strategy can"));
}

TEST_F(ExtendedProgramTest, SaysHowToGetTheModelsOfLibtorch) {
  const ProcessResult result = RunRingside("train --model mlp --steps 2");
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr("link ringside::torch_models and add TorchModels()"));
}

}  // namespace
}  // namespace ringside
