// benchmarks/compare.py: its rows, what it refuses, and the forms of its result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/common/shell_command.h"
#include "tests/common/temporary_directory.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

ShellOutcome Compare(const std::string& args, const std::string& variables = "") {
  return RunShell(variables + " python3 -B " RINGSIDE_COMPARE " --build " RINGSIDE_BUILD " " +
                  args);
}

std::string Contents(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class CompareTest : public ::testing::Test {
 protected:
  const TemporaryDirectory directory_;
  const fs::path scratch_ = directory_.path();
};

TEST_F(CompareTest, ListsItsRowsWithTheirTargets) {
  const ShellOutcome result = Compare("--list --only shm,overlap");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("shm/gloo-2x4MiB             >= 10"));
  EXPECT_THAT(result.output, HasSubstr("overlap/priority"));
  EXPECT_THAT(result.output, Not(HasSubstr("coalesce")));
}

TEST_F(CompareTest, RefusesWhatItDoesNotHave) {
  const ShellOutcome unknown = Compare("--only shm,nonsense");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.output, HasSubstr("no row 'nonsense'"));
  EXPECT_EQ(Compare("--rounds 0").exit_code, 2);
}

TEST_F(CompareTest, WritesWhatItMeasured) {
  const ShellOutcome result =
      Compare("--only help --rounds 1 --json " + (scratch_ / "out.json").string() + " --markdown " +
              (scratch_ / "out.md").string());
  const auto json = nlohmann::json::parse(Contents(scratch_ / "out.json"), nullptr, false);
  ASSERT_TRUE(json.is_object()) << result.output;
  EXPECT_EQ(json.at("schema"), "ringside.compare/2");
  ASSERT_EQ(json.at("rows").size(), 1U);
  ASSERT_TRUE(json.at("rows")[0].at("ok").is_boolean()) << result.output;
  EXPECT_EQ(result.exit_code, json.at("rows")[0].at("ok") == true ? 0 : 5) << result.output;
  EXPECT_EQ(json.at("rows")[0].at("row"), "help");
  EXPECT_GT(json.at("rows")[0].at("ratio"), 0);
  EXPECT_EQ(json.at("rows")[0].at("rounds"), 9) << "not as many as asked for, but as were run";
  EXPECT_THAT(Contents(scratch_ / "out.md"), HasSubstr("| `help` |"));
  EXPECT_THAT(Contents(scratch_ / "out.md"), HasSubstr(json.at("commit").get<std::string>()));
}

TEST_F(CompareTest, CountsTheLibrariesOfLibtorchThatAreLoaded) {
  const ShellOutcome result = Compare("--only libtorch --json " + (scratch_ / "out.json").string());
  EXPECT_EQ(result.exit_code, 0) << result.output;
  const auto row = nlohmann::json::parse(Contents(scratch_ / "out.json")).at("rows").at(0);
  EXPECT_EQ(row.at("ratio"), 0);
  EXPECT_EQ(row.at("ok"), true);
}

// A build whose programs answer what the test says, for rows that would take minutes.
class CompareMadeUpTest : public CompareTest {
 protected:
  CompareMadeUpTest() {
    fs::create_directories(scratch_ / "bin");
    std::ofstream(scratch_ / "bin/ringside-worker");
  }

  nlohmann::json Rows(const std::string& only, const std::string& script,
                      const std::string& name = "ringside") const {
    const fs::path program = scratch_ / "bin" / name;
    std::ofstream(program) << "#!/bin/sh\n" << script;
    fs::permissions(program, fs::perms::owner_all);
    const std::string out = (scratch_ / "out.json").string();
    const ShellOutcome result =
        Compare("--only " + only + " --build " + scratch_.string() + " --json " + out,
                "TMPDIR=" + scratch_.string());
    EXPECT_EQ(result.exit_code, 5) << result.output;
    return nlohmann::json::parse(Contents(out)).at("rows");
  }
};

TEST_F(CompareMadeUpTest, VerifyIsHeldToItsWorstRow) {
  const auto rows = Rows("verify", R"(
echo '{"rows": [
  {"optimizer": "sgd", "strategy": "ring", "workers": 2, "difference": 2e-6, "limit": 1e-5, "same_twice": true},
  {"optimizer": "sgd", "strategy": "ps-sync", "workers": 3, "difference": 2e-5, "limit": 1e-5, "same_twice": null},
  {"optimizer": "adam", "strategy": "ring", "workers": 2, "difference": 5e-5, "limit": 1e-4, "same_twice": true}]}'
exit 5
)");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_NEAR(rows[0].at("ratio"), 2, 1e-9);
  EXPECT_EQ(rows[0].at("ok"), false);
  EXPECT_THAT(rows[0].at("note").get<std::string>(), HasSubstr("ps-sync, 3 workers"));
  EXPECT_NEAR(rows[1].at("ratio"), 0.5, 1e-9);
  EXPECT_EQ(rows[1].at("ok"), true);
}

TEST_F(CompareMadeUpTest, TheQuickstartIsHeldToItsLeastSynchronousAccuracy) {
  const auto rows = Rows("quickstart", R"(
case "$1" in
  list) echo '{"strategies": [{"name": "none", "synchronous": false, "available": true},
                              {"name": "ring", "synchronous": true, "available": true}]}' ;;
  report) echo '{"cells": [{"strategy": "none", "workers": 4, "accuracy": 0.3},
                           {"strategy": "ring", "workers": 4, "accuracy": 0.76},
                           {"strategy": "ring", "workers": 1, "accuracy": 0.97}]}' ;;
esac
)");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_LT(rows[0].at("ratio"), 1);
  EXPECT_NEAR(rows[1].at("ratio"), 0.8, 1e-9);
  EXPECT_EQ(rows[1].at("ok"), false);
}

TEST_F(CompareMadeUpTest, TheLabIsHeldToItsWorstRateAndToWhatItLeavesBehind) {
  if (::geteuid() != 0) GTEST_SKIP() << "rows in an emulated cluster need root";
  const auto rows = Rows("lab/goodput,lab/hosts-8,lab/cycles", R"(
case "$*" in
  *cycles=0*)
    echo '{"rate": "50Mbps", "share_of_goodput": {"median": 0.97, "min": 0.95, "max": 0.98}}'
    echo '{"rate": "2Gbps", "share_of_goodput": {"median": 1.01, "min": 0.99, "max": 1.02}}' ;;
  *)
    printf %s '{"cycles": 200, "build_ms": {"median": 1000.0, "max": 2500.0}, ' \
      '"remove_ms": {"median": 500.0, "max": 700.0}, "left_behind": ["net:[1]", "device veth0"]}' ;;
esac
)",
                         "lab_benchmark");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_NEAR(rows[0].at("ratio"), 1.5, 1e-9);
  EXPECT_EQ(rows[0].at("ok"), false);
  EXPECT_THAT(rows[0].at("note").get<std::string>(), HasSubstr("50Mbps"));
  EXPECT_NEAR(rows[1].at("ratio"), 0.5, 1e-9);
  EXPECT_EQ(rows[1].at("ok"), true);
  EXPECT_EQ(rows[2].at("ratio"), 2);
  EXPECT_EQ(rows[2].at("rounds"), 200);
  EXPECT_EQ(rows[2].at("ok"), false);
}

TEST_F(CompareMadeUpTest, ACellLeavesOutRunsThatTheMachineLimited) {
  if (::geteuid() != 0) GTEST_SKIP() << "rows in an emulated cluster need root";
  const auto rows = Rows("net/ps-sync-4+4-300Mbps-priority", R"(
runs=$(cat "$TMPDIR/runs" 2>/dev/null || echo 0)
echo $((runs + 1)) > "$TMPDIR/runs"
verdict=ok
step=102
case "$*" in *priority*) step=110 ;; esac
if [ "$runs" -lt 2 ]; then verdict=limited; step=300; fi
echo '{"step_ms": {"median": '$step'}, "achievable_ms": 100, "forward_ms": 10, "bound_comm_ms": 90,
       "compute_ms": 50, "machine_busy": 0.5, "dilation": {"factor": 1},
       "fidelity": {"verdict": "'$verdict'", "limited_by": []}}'
)");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_NEAR(rows[0].at("ours"), 1.10, 1e-9);
  EXPECT_NEAR(rows[0].at("peer"), 1.02, 1e-9);
  EXPECT_NEAR(rows[0].at("ratio"), 0.08, 1e-9);
  EXPECT_EQ(rows[0].at("ok"), false);
  EXPECT_EQ(rows[0].at("note"), "2 more runs limited by the machine");
}

TEST_F(CompareMadeUpTest, AnEmulatedRunIsRepeatedWhereTheMachineLimitedIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "rows in an emulated cluster need root";
  const auto rows = Rows("lab/resnet50", R"(
runs=$(cat "$TMPDIR/runs" 2>/dev/null || echo 0)
echo $((runs + 1)) > "$TMPDIR/runs"
verdict=ok
step=120
if [ "$runs" -lt 2 ]; then verdict=limited; step=300; fi
echo '{"step_ms": {"median": '$step'}, "bound_ms": 100, "network": "hosts=4,rate=1Gbps", "link_ok": true,
       "fidelity": {"verdict": "'$verdict'", "limited_by": []}}'
)");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_NEAR(rows[0].at("ratio"), 1.2, 1e-9);
  EXPECT_THAT(rows[0].at("samples").at("ours"), ::testing::Each(120));
}

TEST_F(CompareMadeUpTest, AMatrixIsHeldToItsCostliestStrategy) {
  const auto rows = Rows("matrix/overhead,matrix/overhead-libtorch", R"(
results=results/${2%.yaml}
mkdir -p $results/a $results/b
echo '{"run_id": "a", "seconds": 4}' > $results/journal.jsonl
echo '{"run_id": "b", "seconds": 2}' >> $results/journal.jsonl
echo '{"strategy": "ring", "train_seconds": 1, "startup_seconds": 1}' > $results/a/summary.json
echo '{"strategy": "none", "train_seconds": 1, "startup_seconds": 1}' > $results/b/summary.json
)");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_NEAR(rows[0].at("ratio"), 1.5, 1e-9);
  EXPECT_EQ(rows[0].at("ok"), false);
  EXPECT_THAT(rows[0].at("note").get<std::string>(), HasSubstr("ring"));
  EXPECT_NEAR(rows[1].at("ratio"), 0.75, 1e-9);
  EXPECT_EQ(rows[1].at("ok"), true);
}

TEST_F(CompareMadeUpTest, AKilledMatrixThatDoesNotResumeMissesItsTarget) {
  const auto rows = Rows("matrix/kills", "echo cannot go on >&2; exit 1");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].at("ratio"), 1);
  EXPECT_EQ(rows[0].at("ok"), false);
  EXPECT_THAT(rows[0].at("note").get<std::string>(), HasSubstr("cannot go on"));
}

TEST_F(CompareTest, ARowThatFailsIsNoSuccess) {
  const ShellOutcome result = Compare("--only help --build " + scratch_.string());
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_THAT(result.output, HasSubstr("failed"));
}

}  // namespace
}  // namespace ringside
