// Which runs of a study the demo's page shows.
#include "ringside/experiments/demo/demo_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/common/temporary_directory.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DemoChoice : public ::testing::Test {
 protected:
  /// Adds a run that ended well and has a record. Returns its summary.
  nlohmann::json& Add(const std::string& name, const std::string& strategy, int workers) {
    fs::create_directory(scratch_.Path(name));
    std::ofstream(scratch_.Path(name) + "/chunks.jsonl") << "{}\n";
    RunResult run;
    run.directory = scratch_.Path(name);
    run.spec = RunSpec(TestCatalog());
    run.spec.strategy = strategy;
    run.spec.workers = workers;
    run.summary = {{"status", "done"}, {"model", "mlp"}, {"workers", workers}, {"codec", "fp32"}};
    study_.runs.push_back(std::move(run));
    return study_.runs.back().summary;
  }
  void RemoveRecord(const std::string& name) const {
    fs::remove(scratch_.Path(name) + "/chunks.jsonl");
  }
  /// The names of the chosen runs.
  std::vector<std::string> Chosen() const {
    std::vector<std::string> names;
    for (const fs::path& bundle : ChooseDemoRuns(study_)) names.push_back(bundle.filename());
    return names;
  }

 private:
  const TemporaryDirectory scratch_;
  StudyInput study_;
};

TEST_F(DemoChoice, IsARingBesideAServerWithTheMostWorkers) {
  Add("server-2", "ps-sync", 2);
  Add("ring-2", "ring", 2);
  Add("server-4", "ps-sync", 4);
  Add("ring-4", "ring", 4);
  EXPECT_THAT(Chosen(), ElementsAre("ring-4", "server-4"));
}

TEST_F(DemoChoice, OfEquallyManyWorkersIsTheFirst) {
  Add("first", "ring", 2);
  Add("second", "halving-doubling", 2);
  Add("server", "ps-sync", 2);
  EXPECT_THAT(Chosen(), ElementsAre("first", "server"));
}

TEST_F(DemoChoice, IsAPairThatDiffersInTheStrategyAlone) {
  Add("ring-4", "ring", 4);
  Add("server-4", "ps-sync", 4)["codec"] = "int8";
  Add("ring-2", "ring", 2);
  Add("server-2", "ps-sync", 2);
  EXPECT_THAT(Chosen(), ElementsAre("ring-2", "server-2"));
}

TEST_F(DemoChoice, LeavesOutRunsThatFailedOrHaveNoRecord) {
  Add("failed", "ring", 8)["status"] = "failed";
  Add("unrecorded", "ring", 4);
  Add("alone", "none", 4);
  Add("ring", "ring", 2);
  Add("server", "ps-sync", 2);
  RemoveRecord("unrecorded");
  EXPECT_THAT(Chosen(), ElementsAre("ring", "server"));
}

TEST_F(DemoChoice, IsOneRunWhereThereIsNoPair) {
  Add("server", "ps-sync", 2)["model"] = "cnn";
  EXPECT_THAT(Chosen(), ElementsAre("server"));
  Add("ring", "ring", 2);
  EXPECT_THAT(Chosen(), ElementsAre("ring"));
}

TEST_F(DemoChoice, IsNoneWithoutRecords) {
  EXPECT_THAT(Chosen(), IsEmpty());
  Add("ring", "ring", 2);
  RemoveRecord("ring");
  EXPECT_THAT(Chosen(), IsEmpty());
}

}  // namespace
}  // namespace ringside
