// What experiments/lab/lab.py refuses, and a lab itself where this process may make namespaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace ringside {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct LabResult {
  int exit_code = -1;
  std::string output;  ///< Both streams.
};

LabResult Command(const std::string& line) {
  LabResult result;
  std::FILE* pipe = ::popen((line + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return result;
  std::array<char, 4096> piece;
  std::size_t count = 0;
  while ((count = std::fread(piece.data(), 1, piece.size(), pipe)) > 0) {
    result.output.append(piece.data(), count);
  }
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  return result;
}

LabResult RunLab(const std::string& args) {
  return Command("python3 " RINGSIDE_LAB " --build " RINGSIDE_BUILD " " + args);
}

struct Misuse {
  const char* args;
  int exit_code;
  const char* message;
};

void PrintTo(const Misuse& misuse, std::ostream* out) { *out << misuse.args; }

class LabMisuse : public ::testing::TestWithParam<Misuse> {};

TEST_P(LabMisuse, IsRefusedBeforeAnythingIsMade) {
  const LabResult result = RunLab(GetParam().args);
  EXPECT_EQ(result.exit_code, GetParam().exit_code) << result.output;
  EXPECT_THAT(result.output, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Table, LabMisuse,
    ::testing::Values(Misuse{"", 2, "what to run is missing"},
                      Misuse{"-- verify", 2, "what to run is missing"},
                      Misuse{"--hosts 0 -- train", 2, "--hosts 0: give at least 1"},
                      Misuse{"--hosts 300 -- train", 2, "more than 250"},
                      Misuse{"--workers-per-host 0 -- train", 2, "--workers-per-host 0"},
                      Misuse{"--server-hosts -1 -- train", 2, "--server-hosts -1"},
                      Misuse{"--rate fast -- train", 2, "--rate fast: expected a rate"},
                      Misuse{"--rate 0Gbps -- train", 2, "--rate 0Gbps"},
                      Misuse{"-- train --workers 2", 2, "--workers: the lab sets it itself"},
                      Misuse{"-- train --out=here", 2, "--out=here: the lab sets it itself"},
                      Misuse{"--server-hosts 1 -- bench --servers 1", 2,
                             "as many as --server-hosts"},
                      Misuse{"--nonsense", 2, "--nonsense"}));

class LabTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const LabResult made =
        Command("ip netns add ringside-probe-$$ && ip netns delete ringside-probe-$$");
    if (made.exit_code != 0) GTEST_SKIP() << "no network namespaces here: " << made.output;
  }
  void TearDown() override {
    // Of labs whose process is gone: others may be at work on this machine.
    const LabResult left = Command(
        "for name in $(ip netns list | sed -n 's/^rslab\\([0-9]*\\)-.*/\\1/p'); do "
        "[ -d /proc/$name ] || echo left $name; done");
    EXPECT_THAT(left.output, Not(HasSubstr("left")));
  }
};

TEST_F(LabTest, ServersOnTheirOwnHostsServeWorkersOfSeveral) {
  const LabResult result = RunLab(
      "--hosts 2 --workers-per-host 2 --server-hosts 1 --rate 100Mbps --no-calibration --json -- "
      "bench --strategy ps-sync -b 4KiB -e 4KiB -n 2 -w 1 --quiet");
  ASSERT_EQ(result.exit_code, 0) << result.output;
  const auto json = nlohmann::json::parse(result.output, nullptr, false);
  ASSERT_TRUE(json.is_object()) << result.output;
  const auto& row = json.at("bench").at("rows").at(0);
  EXPECT_EQ(row.at("workers"), 4);
  EXPECT_EQ(row.at("servers"), 1);
  EXPECT_EQ(row.at("wrong"), 0);
}

TEST_F(LabTest, TrainingIsHeldAgainstItsBound) {
  const LabResult result = RunLab(
      "--hosts 2 --rate 1Gbps --no-calibration --at-least 2 --json -- train --strategy ring "
      "--model profile:small-tensors --steps 4 --warmup-steps 1 --quiet");
  EXPECT_EQ(result.exit_code, 5) << "nothing is twice as fast as its bound: " << result.output;
  EXPECT_THAT(result.output, HasSubstr("share_of_bound"));
}

TEST_F(LabTest, AFailedJobLeavesNothingAndItsExitCode) {
  const LabResult result = RunLab("--hosts 2 --no-calibration -- bench --strategy rnig -b 4 -e 4");
  EXPECT_EQ(result.exit_code, 2) << result.output;
  EXPECT_THAT(result.output, HasSubstr("did you mean 'ring'"));
}

}  // namespace
}  // namespace ringside
