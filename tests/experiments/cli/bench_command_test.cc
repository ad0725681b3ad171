// `ringside bench` through the command line: jobs of real processes on tiny vectors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/experiments/cli/ringside_process.h"

namespace ringside {
namespace {

using nlohmann::json;

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class BenchCommand : public RingsideProcessTest {
 protected:
  json Rows(const std::string& args, const std::string& variables = "") const {
    const std::string warmup = args.find("-w ") == std::string::npos ? "-w 1 " : "";
    const ProcessResult result = RunRingside("bench --json -n 3 " + warmup + args, variables);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const json parsed = json::parse(result.out, nullptr, false);
    EXPECT_EQ(parsed.value("schema", ""), "ringside.bench/1") << result.out;
    return parsed.value("rows", json::array());
  }
};

TEST_F(BenchCommand, JsonHasARowForEachStrategyAndSize) {
  const json rows = Rows("--strategy ring,halving-doubling,ps-sync -b 4 -e 4KiB -f 32 --workers 3");
  ASSERT_EQ(rows.size(), 9U);
  std::set<std::string> seen;
  for (const json& row : rows) {
    seen.insert(row.at("strategy").get<std::string>() + row.at("size").dump());
    EXPECT_EQ(row.at("workers"), 3);
    EXPECT_GT(row.at("time_us"), 0) << row;
    EXPECT_GE(row.at("p99_us"), row.at("time_us")) << row;
    EXPECT_EQ(row.at("wrong"), 0) << row;
    EXPECT_EQ(row.at("count"), row.at("size").get<int>() / 4);
  }
  EXPECT_EQ(seen.size(), rows.size());
}

TEST_F(BenchCommand, BandwidthsFollowFromTheTime) {
  for (const json& row :
       Rows("--strategy ring,ps-sync -b 64KiB -e 64KiB --workers 4 --servers 2")) {
    const double algbw = 65536 / row.at("time_us").get<double>() / 1e3;
    EXPECT_NEAR(row.at("algbw_GBps").get<double>(), algbw, 1e-9);
    // 2(N-1)/N for the ring; each of two servers takes in half of four gradients.
    const double factor = row.at("strategy") == "ring" ? 1.5 : 2;
    EXPECT_NEAR(row.at("busbw_GBps").get<double>(), factor * algbw, 1e-9);
  }
}

TEST_F(BenchCommand, TheWarmUpLastsUntilTimesAreSteadyAndSaysHowLong) {
  const ProcessResult result =
      RunRingside("bench --json -n 3 --strategy shm,ps-sync -b 4KiB -e 4KiB --workers 2");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json parsed = json::parse(result.out);
  EXPECT_TRUE(parsed.at("warmup").is_null()) << "no number was given";
  ASSERT_EQ(parsed.at("rows").size(), 2U);
  for (const json& row : parsed.at("rows")) {
    EXPECT_GE(row.at("warmup_operations"), 20) << row;
    EXPECT_GE(row.at("warmup_ms"), 200) << "the least time of a warm-up: " << row;
    EXPECT_TRUE(row.at("steady").is_boolean()) << row;
  }
}

TEST_F(BenchCommand, AGivenWarmUpIsObeyed) {
  const json rows = Rows("--strategy ring,ps-sync -b 4KiB -e 4KiB -w 7");
  ASSERT_EQ(rows.size(), 2U);
  for (const json& row : rows) {
    EXPECT_EQ(row.at("warmup_operations"), 7);
    EXPECT_TRUE(row.at("steady").is_null()) << "nothing was judged";
  }
}

TEST_F(BenchCommand, EveryRoundIsKept) {
  const json rows = Rows("--strategy ring -b 8 -e 8 --rounds 3");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].at("round_us").size(), 3U);
}

TEST_F(BenchCommand, ServersInsideTheWorkersArePossible) {
  const json rows = Rows("--strategy ps-sync -b 4KiB -e 4KiB --workers 3 --servers colocated");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].at("servers"), 3);
  EXPECT_EQ(rows[0].at("wrong"), 0);
}

TEST_F(BenchCommand, WhatIsNotComparedIsNull) {
  for (const json& row : Rows("--strategy ring -b 4 -e 4 -c 0"))
    EXPECT_TRUE(row["wrong"].is_null());
  for (const char* inexact : {"ps-backup", "ps-async --staleness-lr"}) {
    const json rows = Rows(std::string("-b 64 -e 64 --strategy ") + inexact);
    ASSERT_EQ(rows.size(), 1U) << inexact;
    EXPECT_TRUE(rows[0]["wrong"].is_null()) << inexact;
  }
}

TEST_F(BenchCommand, ServersThatDropNothingAreExactOnceTheySettle) {
  const json rows = Rows(
      "--strategy ps-ssp,ps-async,ps-backup --backups 0 --workers 4 --servers 2 -b 64KiB -e 64KiB");
  ASSERT_EQ(rows.size(), 3U);
  for (const json& row : rows) EXPECT_EQ(row["wrong"], 0) << row;
}

TEST_F(BenchCommand, AutoSaysWhatItPicked) {
  const json rows = Rows("--strategy auto,ring -b 4KiB -e 4KiB --rounds 2");
  ASSERT_EQ(rows.size(), 2U);
  ASSERT_EQ(rows[0].at("notes").size(), 2U) << "one a round";
  EXPECT_THAT(rows[0].at("notes")[0].get<std::string>(), HasSubstr("auto picks by size: 4 KiB: "));
  EXPECT_THAT(rows[1].at("notes"), IsEmpty());
  const ProcessResult table = RunRingside("bench --strategy auto -b 4KiB -e 4KiB -n 1 -w 0");
  EXPECT_THAT(table.out, HasSubstr("\n    auto picks by size: 4 KiB: "));
}

TEST_F(BenchCommand, AllSkipsWhatIsRefusedWithTheReason) {
  const ProcessResult result =
      RunRingside("bench --strategy all --workers 1 -b 64 -e 64 -n 1 -w 0 --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json parsed = json::parse(result.out);
  EXPECT_GT(parsed.at("rows").size(), 3U);
  std::string reason;
  for (const json& skipped : parsed.at("skipped")) {
    if (skipped.at("strategy") == "ps-backup") reason = skipped.at("reason");
  }
  EXPECT_THAT(reason, HasSubstr("1 backups of 1 workers"));
}

TEST_F(BenchCommand, OneWorkerSumsAlone) {
  const json rows = Rows("--strategy ring -b 4 -e 4 --workers 1");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].at("busbw_GBps"), 0);
}

TEST_F(BenchCommand, TheTableDefinesItsColumns) {
  const ProcessResult result = RunRingside("bench --strategy ring -b 4KiB -e 16KiB -n 2 -w 0");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("2(N-1)/N"));
  EXPECT_THAT(result.out, HasSubstr("#wrong"));
  EXPECT_THAT(result.out, HasSubstr("16.0 KiB"));
  EXPECT_THAT(result.err, HasSubstr("round 1 of 1: ring"));
}

TEST_F(BenchCommand, PeersAreTimedOrSaidToBeMissing) {
  const ProcessResult result =
      RunRingside("bench --strategy ring -b 4KiB -e 4KiB -n 2 -w 1 --peers --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json parsed = json::parse(result.out);
  std::set<std::string> named;
  for (const json& row : parsed.at("rows")) {
    named.insert(row.at("strategy"));
    EXPECT_EQ(row.at("busbw_GBps").is_null(), row.at("strategy") == "memory-copy") << row;
    EXPECT_EQ(row.at("warmup_operations"), 1) << row;
  }
  for (const json& skipped : parsed.at("skipped")) {
    EXPECT_THAT(skipped.at("reason").get<std::string>(), Not(IsEmpty()));
    named.insert(skipped.at("strategy"));
  }
  for (const char* peer : {"gloo-ring", "gloo-ring-chunked", "gloo-halving-doubling", "openmpi",
                           "impi", "openmpi5", "mpich", "memory-copy"}) {
    EXPECT_TRUE(named.contains(peer)) << peer << ": " << result.out;
  }
}

TEST_F(BenchCommand, APeerThatWritesWithoutEndIsStopped) {
  namespace fs = std::filesystem;
  const std::string ringside = scratch() + "/ringside";
  fs::copy_file(RINGSIDE_EXECUTABLE, ringside);
  const std::string peer = scratch() + "/peer-memory-copy";
  std::ofstream(peer) << "#!/bin/sh\nexec yes\n";
  fs::permissions(peer, fs::perms::owner_all);
  const ProcessResult result =
      RunProgram(ringside, "bench --strategy ring -b 4 -e 4 -n 1 -w 1 --peers", "");
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("memory-copy: it wrote more than 256 MiB"));
}

TEST_F(BenchCommand, AFailureNamesTheStrategyAndTheWorker) {
  const ProcessResult result =
      RunWithFault("bench --strategy ring -b 4 -e 4 --quiet", "kill@rank1:step0");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("ring: worker 1"));
}

struct Misuse {
  const char* args;
  int exit_code;
  const char* message;
};

void PrintTo(const Misuse& misuse, std::ostream* out) { *out << misuse.args; }

class BenchMisuse : public BenchCommand, public ::testing::WithParamInterface<Misuse> {};

TEST_P(BenchMisuse, IsRefusedBeforeAnythingStarts) {
  const ProcessResult result = RunRingside(std::string("bench ") + GetParam().args);
  EXPECT_EQ(result.exit_code, GetParam().exit_code) << result.err;
  EXPECT_THAT(result.err, HasSubstr(GetParam().message));
  EXPECT_THAT(result.err, Not(HasSubstr("round 1")));
  EXPECT_THAT(result.out, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Table, BenchMisuse,
    ::testing::Values(
        Misuse{"--strategy rnig", 2, "did you mean 'ring'"},
        Misuse{"--strategy none", 2, "bench times collectives and servers, not 'none'"},
        Misuse{"--strategy ''", 2, "--strategy"}, Misuse{"-b 8KiB -e 4KiB", 2, "is above"},
        Misuse{"-b 2", 2, "hold no float"}, Misuse{"-e 100GiB", 2, "more than 4.00 GiB"},
        Misuse{"-f 1", 2, "does not make sizes grow"},
        Misuse{"-n 0", 2, "--iterations: 0 is not from 1"},
        Misuse{"-w -1", 2, "--warmup-iterations: -1 is not from 0"},
        Misuse{"-w 10001", 2, "--warmup-iterations: 10001 is not from 0 to 10000"},
        Misuse{"-w soon", 2, "--warmup-iterations: 'soon' is neither a number nor 'steady'"},
        Misuse{"-w ''", 2, "--warmup-iterations"}, Misuse{"-c maybe", 2, "--check"},
        Misuse{"--rounds 0", 2, "--rounds: 0"}, Misuse{"--workers 0", 2, "0 workers"},
        Misuse{"-b 4potatoes", 2, "4potatoes"},
        Misuse{"--servers 1", 2, "no strategy of the list reads it"},
        Misuse{"--strategy ring --schedule priority", 2, "no strategy of the list reads it"},
        Misuse{"--strategy shm --codec int8", 2, "no strategy of the list reads it"},
        Misuse{"--strategy ring,ps-sync,ring", 2, "'ring' is there twice"},
        Misuse{"--strategy all --workers 0", 2, "0 workers"},
        Misuse{"--strategy ring,ps-backup --workers 1", 2, "1 backups of 1 workers"},
        Misuse{"--peers --network 1Gbps", 2, "--peers: they know nothing of emulated hosts"},
        Misuse{"--model mlp", 2, "unknown flag"}));

TEST_F(BenchCommand, PortsBeyondTheLastAreRefused) {
  const ProcessResult result =
      RunRingside("bench --strategy ring --rounds 2",
                  "RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=65535");
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the 2 jobs of this bench take a port each"));
}

TEST_F(BenchCommand, CodecsEncodeWhatIsTimed) {
  for (const json& row : Rows("--strategy ring,ps-sync -b 64KiB -e 64KiB --workers 4 --servers 2 "
                              "--codec fp16")) {
    EXPECT_EQ(row.at("codec"), "fp16");
    EXPECT_TRUE(row.at("wrong").is_null()) << "a sum that is rounded was compared: " << row;
    // Half of what 32 bits take, in both directions.
    const double factor = row.at("strategy") == "ring" ? 0.75 : 1;
    EXPECT_NEAR(row.at("busbw_GBps").get<double>(), factor * row.at("algbw_GBps").get<double>(),
                1e-9);
  }
}

TEST_F(BenchCommand, GatheredCodecsSendToEveryone) {
  const json rows = Rows("--strategy ring -b 64KiB -e 64KiB --workers 4 --codec sign");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_LT(rows[0].at("busbw_GBps"), rows[0].at("algbw_GBps").get<double>() / 8);
  EXPECT_GT(rows[0].at("busbw_GBps"), rows[0].at("algbw_GBps").get<double>() * 3 / 32);
}

TEST_F(BenchCommand, HelpShowsShortForms) {
  EXPECT_THAT(RunRingside("bench --help").out, HasSubstr("-b, --min-bytes SIZE"));
}

}  // namespace
}  // namespace ringside
