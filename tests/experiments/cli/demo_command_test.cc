// `ringside demo` on recorded runs: the page, the check, and the reader in Python.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "ringside/experiments/system/files/sha256.h"
#include "tests/experiments/cli/ringside_process.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

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
  /// Repeats the recorded steps, one copy after another, until the record has `rows` rows at least.
  /// The copies are later steps, or parts of the first step. Leaves the trace out, which has no
  /// spans of them.
  void Repeat(std::size_t rows, bool as_steps) const;
};

void DemoCommand::Repeat(std::size_t rows, bool as_steps) const {
  std::istringstream lines(Read("run/chunks.jsonl"));
  std::string line;
  std::getline(lines, line);
  json head = json::parse(line);
  std::vector<json> recorded;
  std::int64_t duration = 0;
  std::int64_t steps = 0;
  while (std::getline(lines, line) && line.front() == '[') {
    recorded.push_back(json::parse(line));
    duration = std::max<std::int64_t>(duration, recorded.back()[12].get<std::int64_t>() + 1);
    steps = std::max<std::int64_t>(steps, recorded.back()[5].get<std::int64_t>() + 1);
  }
  const auto copies = static_cast<std::int64_t>(rows / recorded.size() + 1);
  for (json& process : head["processes"]) {
    process["chunks"] = process["chunks"].get<std::int64_t>() * copies;
  }
  std::string text = head.dump() + "\n";
  for (std::int64_t copy = 0; copy < copies; ++copy) {
    for (json row : recorded) {
      row[5] = as_steps ? row[5].get<std::int64_t>() + copy * steps : 0;
      for (const int time : {11, 12}) row[time] = row[time].get<std::int64_t>() + copy * duration;
      text += row.dump() + "\n";
    }
  }
  const std::size_t count = recorded.size() * static_cast<std::size_t>(copies);
  const std::string sha256 = Sha256Hex(std::as_bytes(std::span<const char>(text)));
  Write("run/chunks.jsonl", text + json{{"chunks", count}, {"sha256", sha256}}.dump() + "\n");
  json summary = Summary();
  json& sent = summary["payload_bytes_sent_per_worker"];
  sent = sent.get<double>() * static_cast<double>(copies);
  for (json& bytes : summary["bytes_sent_by_worker"]) {
    bytes = bytes.get<double>() * static_cast<double>(copies);
  }
  Write("run/summary.json", summary.dump());
  fs::remove(Path("run/trace.json"));
}

// Sanitizers make everything several times as slow.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kManyRows = 100'000;
#else
constexpr std::size_t kManyRows = 1'000'000;
#endif

/// Nothing crosses a wire, and these sums through shared memory are not recorded.
bool SumsInsideAHost(const std::string& flags) {
  return flags == "--strategy none" || flags.starts_with("--strategy auto") ||
         flags == "--strategy hierarchical" || flags == "--strategy hierarchical --codec topk:0.01";
}

class EveryWire : public DemoCommand, public ::testing::WithParamInterface<const char*> {};

TEST_P(EveryWire, RecordsWhatIsTrue) {
  Record(GetParam());
  const ProcessResult check = RunRingside("demo --check run");
  EXPECT_EQ(check.exit_code, 0) << check.out << check.err;
  if (!SumsInsideAHost(GetParam())) {
    EXPECT_THAT(check.out, Not(HasSubstr("run: 0 transfers, 0 updates")));
  }
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
                      "--strategy hierarchical --hosts 2", "--strategy ring --codec int8",
                      "--strategy ring --codec topk:0.01", "--strategy ring --codec powersgd:4",
                      "--strategy ring --codec sign", "--strategy hierarchical --codec topk:0.01",
                      "--strategy auto", "--strategy auto --schedule priority",
                      "--strategy ring --schedule priority", "--strategy ps-sync --servers 2",
                      "--strategy ps-sync --servers colocated",
                      "--strategy ps-sync --ps-transport grpc", "--strategy ps-sync --codec fp16",
                      "--strategy ps-sync --ps-transport shm", "--strategy mixed --servers 1",
                      "--strategy ps-async --servers 2", "--strategy ps-ssp",
                      "--strategy ps-backup --backups 1", "--strategy local-sgd --sync-every 2",
                      "--strategy diloco --sync-every 2", "--strategy none",
                      "--strategy ring --timeline-steps 2:4"));

TEST_F(DemoCommand, SaysThatTheMachineWasALimit) {
  Record("--strategy ring");
  json summary = Summary();
  summary["fidelity"] = {{"verdict", "limited"}, {"limited_by", {"the processor: 0 % idle"}}};
  Write("run/summary.json", summary.dump());
  const ProcessResult page = RunRingside("demo run --no-open");
  EXPECT_EQ(page.exit_code, 0) << page.err;
  constexpr char kNote[] =
      "The machine was a limit, too, so times may be longer than the links make them: the "
      "processor: 0 % idle.";
  EXPECT_THAT(page.err, HasSubstr(kNote));
  EXPECT_THAT(Read("run/demo.html"), HasSubstr(kNote));
}

TEST_F(DemoCommand, SaysThatTheMachineWasNotJudged) {
  Record("--strategy ring");
  json summary = Summary();
  summary["fidelity"] = {{"verdict", nullptr}, {"not_judged", "the counted steps took 0.01 s"}};
  Write("run/summary.json", summary.dump());
  const ProcessResult page = RunRingside("demo run --no-open");
  EXPECT_EQ(page.exit_code, 0) << page.err;
  EXPECT_THAT(page.err, HasSubstr("Whether the machine was a limit, too, was not judged: the "
                                  "counted steps took 0.01 s."));
}

TEST_F(DemoCommand, OpensThePageOnADesktop) {
  Record("--strategy ring");
  fs::create_directory(Path("bin"));
  // Written aside, so that the test never sees half of it.
  Write("bin/xdg-open", "#!/bin/sh\nprintf '%s' \"$*\" >opened.new && mv opened.new opened\n");
  fs::permissions(Path("bin/xdg-open"), fs::perms(0700));
  const ProcessResult page = RunRingside("demo run", "DISPLAY=:0 PATH='" + Path("bin") + "':$PATH");
  EXPECT_EQ(page.exit_code, 0) << page.err;
  EXPECT_EQ(page.out, "run/demo.html\n");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!fs::exists(Path("opened")) && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(Read("opened"), Path("run/demo.html"));
}

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
  EXPECT_THAT(check.out, HasSubstr("WRONG: the record was changed after it was written"));
  const ProcessResult reader = RunProgram(RINGSIDE_READ_RECORD, "run");
  EXPECT_EQ(reader.exit_code, 1);
  EXPECT_THAT(reader.err, HasSubstr("its checksum is another one"));
  EXPECT_THAT(RunRingside("demo run --no-open").err, HasSubstr("its checksum is another one"));
}

TEST_F(DemoCommand, PrintsWhenNodesEndAndWhatTheKernelCounted) {
  Record("--strategy ps-sync");
  const ProcessResult check = RunRingside("demo --check run");
  EXPECT_EQ(check.exit_code, 0) << check.out;
  EXPECT_THAT(check.out, ::testing::ContainsRegex("worker 2 +ends at [0-9.]+ ms; sent [0-9]+ bytes "
                                                  "of chunks, and the kernel counted [0-9]+"));
  EXPECT_THAT(check.out, ::testing::ContainsRegex("server 0 +ends at [0-9.]+ ms"));
  json summary = Summary();
  json& counted = summary["bytes_sent_by_worker"][1];
  counted = counted.get<double>() * 0.9;
  Write("run/summary.json", summary.dump());
  const ProcessResult wrong = RunRingside("demo --check run");
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.out, ::testing::ContainsRegex("WRONG: worker 1 sent .* its kernel counted"));
}

TEST_F(DemoCommand, ShowsWhatThereIsOfARecordThatIsCutOff) {
  Record("--strategy ps-sync");
  const std::string record = Read("run/chunks.jsonl");
  Write("run/chunks.jsonl", record.substr(0, record.size() / 2));
  const ProcessResult page = RunRingside("demo run --no-open");
  EXPECT_EQ(page.exit_code, 0) << page.err;
  EXPECT_THAT(page.err, HasSubstr("cut off"));
  const ProcessResult check = RunRingside("demo --check run");
  EXPECT_EQ(check.exit_code, 1);
  EXPECT_THAT(check.out, HasSubstr("WRONG: the record has no end"));
  EXPECT_EQ(RunProgram(RINGSIDE_READ_RECORD, "run").exit_code, 1);
}

TEST_F(DemoCommand, ACheckMakesNoPage) {
  Record("--strategy ring");
  for (const std::string flag : {"--steps 2", "--html page.html", "--out folder"}) {
    const ProcessResult check = RunRingside("demo --check run " + flag);
    EXPECT_EQ(check.exit_code, 2) << flag;
    EXPECT_THAT(check.err, HasSubstr("--check makes no page"));
  }
}

TEST_F(DemoCommand, ShowsTheChunksOfARunWhoseTraceIsCutOff) {
  Record("--strategy ps-sync");
  const std::string trace = Read("run/trace.json");
  Write("run/trace.json", trace.substr(0, trace.size() / 2));
  const ProcessResult page = RunRingside("demo run --no-open");
  EXPECT_EQ(page.exit_code, 0) << page.err;
  EXPECT_THAT(page.err, HasSubstr("run/trace.json: this is not a trace, or it is cut off"));
  EXPECT_THAT(page.err, HasSubstr("The page shows the chunks alone."));
  EXPECT_NE(Read("run/demo.html").find("The page shows the chunks alone."), std::string::npos);
  const ProcessResult check = RunRingside("demo --check run");
  EXPECT_EQ(check.exit_code, 0) << check.out;
  EXPECT_THAT(check.err, HasSubstr("cut off"));
}

TEST_F(DemoCommand, ReadsAMillionEvents) {
  Record("--strategy ring");
  Repeat(kManyRows, true);
  const ProcessResult check = RunRingside("demo --check run");
  EXPECT_EQ(check.exit_code, 0) << check.out << check.err;
  EXPECT_THAT(check.out, ::testing::ContainsRegex("run: [1-9][0-9]{4,} transfers"));
  const ProcessResult page = RunRingside("demo run --no-open");
  EXPECT_EQ(page.exit_code, 0) << page.err;
  EXPECT_THAT(page.err, Not(HasSubstr("more than 2 MB")));
  EXPECT_LT(fs::file_size(Path("run/demo.html")), 2'000'000U);
}

TEST_F(DemoCommand, APageOfAHugeStepSaysThatItIsLarge) {
  Record("--strategy ring");
  Repeat(300'000, false);
  const ProcessResult page = RunRingside("demo run --no-open");
  EXPECT_EQ(page.exit_code, 0) << page.err;
  EXPECT_GT(fs::file_size(Path("run/demo.html")), 2'000'000U);
  EXPECT_THAT(page.err, HasSubstr("run/demo.html: the page has"));
  EXPECT_THAT(page.err, HasSubstr("--steps"));
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
  record.replace(record.find("\"format\":2"), 10, "\"format\":9");
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
