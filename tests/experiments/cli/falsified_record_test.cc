// Records of real runs, of which one value is changed: `ringside demo --check` finds it by the
// checksum of the file. The other checks find it too, if somebody writes the checksum again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/demo/record_check.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/files/sha256.h"
#include "tests/experiments/cli/ringside_process.h"

namespace ringside {
namespace {

using nlohmann::json;

/// The columns in the order of a row.
constexpr std::array<const char*, 15> kColumns{
    "process", "server",   "action", "phase", "peer", "step",    "bucket",   "piece",
    "offset",  "elements", "bytes",  "begin", "end",  "version", "staleness"};
constexpr std::size_t kServer = 1, kAction = 2, kPhase = 3, kBegin = 11, kEnd = 12;
constexpr std::int64_t kMillisecond = 1'000'000;
constexpr int kRowsPerColumn = 8;

std::string Other(const std::string& name, std::span<const char* const> names, std::mt19937& dice) {
  for (;;) {
    const std::string other = names[dice() % names.size()];
    if (other != name) return other;
  }
}

/// Another value of the column.
json Changed(const json& value, std::size_t column, std::mt19937& dice) {
  static constexpr std::array<const char*, 3> kActions{"send", "receive", "update"};
  static constexpr std::array<const char*, 5> kPhases{"all-gather", "reduce", "push", "pull",
                                                      "slice"};
  if (column == kAction) return Other(value.get<std::string>(), kActions, dice);
  if (column == kPhase) return Other(value.get<std::string>(), kPhases, dice);
  if (value.is_null()) return dice() % 1000;
  const auto number = value.get<std::int64_t>();
  const std::int64_t by = column == kBegin || column == kEnd ? kMillisecond : 1;
  return number + (number < by || dice() % 2 == 0 ? by : -by);
}

/// A record as JSON, line by line.
struct Lines {
  json head;
  std::vector<json> rows;

  std::string Sealed() const {
    std::string text = head.dump() + "\n";
    for (const json& row : rows) text += row.dump() + "\n";
    const std::string sha256 = Sha256Hex(std::as_bytes(std::span<const char>(text)));
    return text + json{{"chunks", rows.size()}, {"sha256", sha256}}.dump() + "\n";
  }
};

struct Falsified {
  const char* flags;
  /// Each chunk is one message, so nothing may overlap it.
  bool one_message = false;
};
void PrintTo(const Falsified& falsified, std::ostream* out) { *out << falsified.flags; }

class FalsifiedRecord : public RingsideProcessTest,
                        public ::testing::WithParamInterface<Falsified> {
 protected:
  void SetUp() override {
    const ProcessResult result =
        RunRingside(fmt::format("train --model profile:mobilenet-v2 --steps 4 --compute-ms 2 "
                                "--workers 3 --timeline --out run --strategy {}",
                                GetParam().flags));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    run_ = ReadRecordedRun(scratch() + "/run");
    ASSERT_EQ(Problems(run_), "");
    std::istringstream text(ReadFile(Path(), std::size_t{64} << 20));
    std::string line;
    std::getline(text, line);
    true_.head = json::parse(line);
    while (std::getline(text, line) && line.front() == '[') true_.rows.push_back(json::parse(line));
  }

  std::string Path() const { return scratch() + "/run/chunks.jsonl"; }

  static std::string Problems(const RecordedRun& run) {
    const RecordCheck check = CheckRecord(run);
    return check.problems.empty() ? "" : check.problems.front();
  }

  /// Whether the checks find the change though the checksum is right.
  bool FindsWithoutChecksum(const Lines& lines) {
    try {
      RecordedRun run = run_;
      run.chunks = ParseChunkFile(lines.Sealed(), "f");
      EXPECT_FALSE(run.chunks.changed);
      run.traffic = JoinTraffic(run.chunks, run.workers());
      return !Problems(run).empty();
    } catch (const DataError&) {
      return true;
    }
  }

  /// Whether another number of the record contradicts the column of this row. All do except times:
  /// a begin or an end that no other event or span shares may be a bit earlier or later.
  bool MustFind(const json& row, std::size_t column) const {
    if (column != kBegin && column != kEnd) return true;
    const bool begins = column == kBegin;
    const bool sends = row[kAction] == "send";
    const bool receives = row[kAction] == "receive";
    if (row[kPhase] == "slice") return true;
    if (row[kServer] >= 0) return sends || (receives && begins);
    if (row[kPhase] == "push") return !begins;
    if (row[kPhase] == "pull") return begins;
    return GetParam().one_message && (begins ? receives : sends);
  }

  RecordedRun run_;
  Lines true_;
};

TEST_P(FalsifiedRecord, IsFoundByItsChecksum) {
  std::mt19937 dice(7);
  for (std::size_t column = 0; column < kColumns.size(); ++column) {
    std::string text = true_.Sealed();
    const json& row = true_.rows[dice() % true_.rows.size()];
    json changed = row;
    changed[column] = Changed(row[column], column, dice);
    text.replace(text.find(row.dump()), row.dump().size(), changed.dump());
    std::ofstream(Path()) << text;
    const ProcessResult check = RunRingside("demo --check run");
    EXPECT_EQ(check.exit_code, 1) << kColumns[column] << ": " << changed;
  }
}

TEST_P(FalsifiedRecord, IsFoundWithoutItsChecksum) {
  std::mt19937 dice(11);
  ASSERT_FALSE(FindsWithoutChecksum(true_));
  for (std::size_t column = 0; column < kColumns.size(); ++column) {
    int must = 0;
    int found = 0;
    for (int i = 0; i < kRowsPerColumn; ++i) {
      Lines lines = true_;
      json& row = lines.rows[dice() % lines.rows.size()];
      row[column] = Changed(row[column], column, dice);
      const bool finds = FindsWithoutChecksum(lines);
      found += finds ? 1 : 0;
      if (!MustFind(row, column)) continue;
      ++must;
      EXPECT_TRUE(finds) << kColumns[column] << ": " << row;
    }
    RecordProperty(std::string("found_") + kColumns[column],
                   fmt::format("{} of {}, {} must be", found, kRowsPerColumn, must));
  }
}

TEST_P(FalsifiedRecord, AMissingEventIsFoundWithoutTheChecksum) {
  std::mt19937 dice(13);
  for (int i = 0; i < kRowsPerColumn; ++i) {
    Lines lines = true_;
    const auto at = static_cast<std::ptrdiff_t>(dice() % lines.rows.size());
    json& count =
        lines.head["processes"][lines.rows[static_cast<std::size_t>(at)][0].get<std::size_t>()]
                  ["chunks"];
    count = count.get<std::uint64_t>() - 1;
    const json gone = lines.rows[static_cast<std::size_t>(at)];
    lines.rows.erase(lines.rows.begin() + at);
    EXPECT_TRUE(FindsWithoutChecksum(lines)) << gone;
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, FalsifiedRecord,
                         ::testing::Values(Falsified{"ring"},
                                           Falsified{"ring --bucket-mb 128KiB", true},
                                           Falsified{"halving-doubling"}, Falsified{"tree"},
                                           Falsified{"shm"}, Falsified{"ps-sync --servers 2"},
                                           Falsified{"ps-async --servers 2"}, Falsified{"ps-ssp"},
                                           Falsified{"ps-backup --backups 1"}));

}  // namespace
}  // namespace ringside
