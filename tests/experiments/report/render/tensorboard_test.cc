#include "ringside/experiments/report/render/tensorboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/common/temporary_directory.h"
#include "tests/experiments/report/synthetic_study.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

TEST(TensorBoard, ChecksumIsThatOfTheStandard) {
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283U);            // the usual check value
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAU);  // RFC 3720, B.4
}

TEST(TensorBoard, RecordsAreFramed) {
  const std::string record = TfRecord("abc");
  ASSERT_EQ(record.size(), 8U + 4 + 3 + 4);
  EXPECT_EQ(record.substr(0, 8), std::string("\x03\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(record.substr(12, 3), "abc");
}

StudyTable OneRun(const std::string& strategy, const std::string& bundle) {
  StudyRun run;
  run.run_id = "../../" + strategy;
  run.directory = bundle;
  run.started = "2026-01-01T10:00:00Z";
  StudyCell cell;
  cell.strategy = strategy;
  cell.workers = 2;
  cell.global_batch = 64;
  cell.results = {run};
  StudyTable table;
  table.cells = {cell};
  return table;
}

TEST(TensorBoard, NamesStayBelowTheDirectory) {
  const TemporaryDirectory scratch;
  std::ofstream(scratch.path() + "/metrics.jsonl")
      << R"({"kind":"step","step":0,"step_ms":2,"loss":1})"
      << "\n"
      << R"({"kind":7})"
      << "\n[1]\n"
      << R"({"kind":"step","st)";
  for (const std::string& name : HostileNames()) {
    EXPECT_EQ(WriteTensorBoard(OneRun("../" + name, scratch.path()), scratch.path() + "/tb"), 1);
  }
  for (const auto& entry : fs::directory_iterator(scratch.path())) {
    EXPECT_THAT(entry.path().filename().string(), ::testing::AnyOf("tb", "metrics.jsonl"));
  }
}

TEST(TensorBoard, ABundleIsAFolderOfItsOwnWhateverItsRunId) {
  const TemporaryDirectory scratch;
  StudyTable table;
  for (const char* bundle : {"once", "again"}) {
    const std::string directory = scratch.path() + "/" + bundle;
    fs::create_directories(directory);
    std::ofstream(directory + "/metrics.jsonl")
        << R"({"kind":"step","step":0,"step_ms":2,"loss":1})";
    StudyTable one = OneRun("ring", directory);
    if (table.cells.empty()) {
      table = one;
    } else {
      table.cells[0].results.push_back(one.cells[0].results[0]);
    }
  }
  EXPECT_EQ(WriteTensorBoard(table, scratch.path() + "/tb"), 2);
  EXPECT_TRUE(fs::exists(scratch.path() + "/tb/ring/2-workers/once"));
  EXPECT_TRUE(fs::exists(scratch.path() + "/tb/ring/2-workers/again"));
}

TEST(TensorBoard, ASecondExportReplacesTheFirst) {
  const TemporaryDirectory scratch;
  std::ofstream(scratch.path() + "/metrics.jsonl")
      << R"({"kind":"step","step":0,"step_ms":2,"loss":1})";
  const std::string out = scratch.path() + "/tb";
  StudyTable table = OneRun("ring", scratch.path());
  EXPECT_EQ(WriteTensorBoard(table, out), 1);
  const fs::path folder = fs::directory_iterator(out + "/ring/2-workers")->path();
  const fs::path first = fs::directory_iterator(folder)->path();
  std::ofstream(folder / "events.out.tfevents.1.host") << "not ours";
  table.cells[0].results[0].started = "2026-01-02T10:00:00Z";
  EXPECT_EQ(WriteTensorBoard(table, out), 1);
  EXPECT_FALSE(fs::exists(first));
  EXPECT_TRUE(fs::exists(folder / "events.out.tfevents.1.host"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 2);
}

TEST(TensorBoard, ARunWithoutMetricsHasNoFile) {
  const TemporaryDirectory scratch;
  EXPECT_EQ(WriteTensorBoard(OneRun("ring", scratch.path()), scratch.path() + "/tb"), 0);
  EXPECT_FALSE(fs::exists(scratch.path() + "/tb"));
}

}  // namespace
}  // namespace ringside
