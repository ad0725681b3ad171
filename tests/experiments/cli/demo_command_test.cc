// `ringside demo` on recorded runs: the page, the check, and the reader in Python.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/experiments/cli/ringside_process.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

class DemoCommand : public RingsideProcessTest {
 protected:
  /// Records a run of 3 workers into the directory "run".
  void Record(const std::string& flags) {
    const ProcessResult result = RunRingside(
        "train --model profile:mobilenet-v2 --steps 5 --compute-ms 2 --workers 3 --timeline "
        "--force "
        "--out run " +
        flags);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  std::string Path(const std::string& name) const { return scratch() + "/" + name; }
  std::string Read(const std::string& name) const {
    std::ifstream file(Path(name));
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
  }
  json Summary() const { return json::parse(Read("run/summary.json")); }
};

class EveryWire : public DemoCommand, public ::testing::WithParamInterface<const char*> {};

TEST_P(EveryWire, RecordsWhatIsTrue) {
  Record(GetParam());
  const ProcessResult check = RunRingside("demo --check run");
  EXPECT_EQ(check.exit_code, 0) << check.out << check.err;
  const ProcessResult page = RunRingside("demo run --no-open");
  EXPECT_EQ(page.exit_code, 0) << page.err;
  EXPECT_EQ(page.out, "run/demo.html\n");
  EXPECT_GT(fs::file_size(Path("run/demo.html")), 10'000U);
  EXPECT_LT(fs::file_size(Path("run/demo.html")), std::uintmax_t{2} << 20);
}

INSTANTIATE_TEST_SUITE_P(
    Strategies, EveryWire,
    ::testing::Values("--strategy ring", "--strategy halving-doubling", "--strategy tree",
                      "--strategy recursive-doubling", "--strategy shm", "--strategy hierarchical",
                      "--strategy ring --codec int8", "--strategy ring --codec topk:0.01",
                      "--strategy ring --codec powersgd:4", "--strategy ring --codec sign",
                      "--strategy hierarchical --codec topk:0.01", "--strategy auto",
                      "--strategy ps-sync --servers 2", "--strategy ps-sync --servers colocated",
                      "--strategy ps-sync --ps-transport grpc", "--strategy ps-sync --codec fp16",
                      "--strategy ps-sync --ps-transport shm", "--strategy mixed --servers 1",
                      "--strategy ps-async --servers 2", "--strategy ps-ssp",
                      "--strategy ps-backup --backups 1", "--strategy local-sgd --sync-every 2",
                      "--strategy none", "--strategy ring --timeline-steps 2:4"));

TEST_F(DemoCommand, WhatHostsGatherIsRecorded) {
  Record("--strategy hierarchical --hosts 3 --codec topk:0.01");
  EXPECT_THAT(Read("run/chunks.jsonl"), HasSubstr("\"gather\""));
  EXPECT_EQ(RunRingside("demo --check run").exit_code, 0);
}

TEST_F(DemoCommand, FindsAFalsifiedEvent) {
  Record("--strategy ring");
  std::string record = Read("run/chunks.jsonl");
  const std::size_t line = record.find("\"send\",\"all-gather\"");
  ASSERT_NE(line, std::string::npos);
  record.replace(line, 6, "\"receive\"");
  Write("run/chunks.jsonl", record);
  const ProcessResult check = RunRingside("demo --check run");
  EXPECT_EQ(check.exit_code, 1);
  EXPECT_THAT(check.out, HasSubstr("WRONG"));
}

TEST_F(DemoCommand, ShowsWhatThereIsOfARecordThatIsCutOff) {
  Record("--strategy ps-sync");
  const std::string record = Read("run/chunks.jsonl");
  Write("run/chunks.jsonl", record.substr(0, record.size() / 2));
  const ProcessResult page = RunRingside("demo run --no-open");
  EXPECT_EQ(page.exit_code, 0) << page.err;
  EXPECT_THAT(page.err, HasSubstr("cut off"));
  EXPECT_EQ(RunRingside("demo --check run").exit_code, 0);
}

TEST_F(DemoCommand, BadInputNamesFileAndReason) {
  EXPECT_EQ(RunRingside("demo a b c").exit_code, 2);
  EXPECT_EQ(RunRingside("demo --check").exit_code, 2);
  EXPECT_EQ(RunRingside("demo run --steps soon").exit_code, 2);
  ProcessResult result = RunRingside("demo nothing");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("nothing is no bundle"));
  Record("--strategy ring");
  result = RunRingside("demo run --steps 77");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("no step 77"));
  std::string record = Read("run/chunks.jsonl");
  record.replace(record.find("\"format\":1"), 10, "\"format\":9");
  Write("run/chunks.jsonl", record);
  result = RunRingside("demo run");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("run/chunks.jsonl:1: the record has format 9"));
  EXPECT_EQ(RunProgram(RINGSIDE_READ_RECORD, "run").exit_code, 1);
  fs::remove(Path("run/chunks.jsonl"));
  result = RunRingside("demo run");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("run it again with --timeline"));
}

}  // namespace
}  // namespace ringside
