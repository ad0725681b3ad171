// Whether runs on emulated hosts say that this machine was their limit, through the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/experiments/lab/emulated_run_testing.h"

namespace ringside {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A step of these takes a third of a second: its bytes need that long at 100 Mbit/s.
constexpr char kTwoSeconds[] =
    "train --quiet --strategy ring --workers 2 --network 100Mbps --steps 8 --warmup-steps 1 "
    "--model profile:small-tensors --out ";

/// Keeps every core busy during its lifetime, for a minute at most.
class BusyCores {
 public:
  BusyCores() {
    for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i) {
      threads_.emplace_back([this] {
        const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        while (!stopping_ && std::chrono::steady_clock::now() < end) {
        }
      });
    }
  }
  ~BusyCores() {
    stopping_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  BusyCores(const BusyCores&) = delete;
  BusyCores& operator=(const BusyCores&) = delete;

 private:
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> threads_;
};

TEST_F(EmulatedRunTest, ItsFidelityIsMeasured) {
  Process process = Start(kTwoSeconds + bundle());
  const RunResult result = Finish(process);
  ASSERT_EQ(result.exit_code, 0) << result.output;
  const nlohmann::json fidelity = Read("summary.json").at("fidelity");
  ASSERT_TRUE(fidelity.is_object()) << fidelity;
  EXPECT_EQ(fidelity.at("not_judged"), "") << fidelity;
  // Other programs may keep this machine busy, so either verdict may be right.
  const bool ok = fidelity.at("verdict") == "ok";
  EXPECT_EQ(ok, fidelity.at("limited_by").empty()) << fidelity;
  EXPECT_THAT(result.output, HasSubstr(ok ? "fidelity: ok\n" : "fidelity: limited by "));
  // Six of eight steps count. Their bytes take a third of a second each, at best.
  EXPECT_GT(fidelity.at("judged_seconds"), 1);
  EXPECT_LT(fidelity.at("judged_seconds"), Read("summary.json").at("wall_seconds"));
  EXPECT_GE(fidelity.at("median_idle_share"), fidelity.at("least_idle_share"));
  EXPECT_LE(fidelity.at("median_idle_share"), 1);
  const nlohmann::json& late = fidelity.at("late_wakeups_ms");
  EXPECT_GE(late.at("max"), late.at("worst_second_p99"));
  EXPECT_GE(late.at("max"), late.at("p99"));
  EXPECT_GT(fidelity.at("late_wakeups_ms").at("allowed"), 1) << "2 % of a step";
  // Each of two workers sends 4 MiB a step, in segments of 1448 bytes.
  EXPECT_GT(fidelity.at("sent_segments"), 8 * 2 * (4 << 20) / 1448);
  EXPECT_GE(fidelity.at("retransmitted_share"), 0);
  EXPECT_GE(fidelity.at("dropped_packets"), 0);
}

TEST_F(EmulatedRunTest, AProcessorThatIsBusyIsNamedAsItsLimit) {
  if (std::thread::hardware_concurrency() < ::sysconf(_SC_NPROCESSORS_ONLN)) {
    GTEST_SKIP() << "this process may not keep all cores busy";
  }
  const BusyCores busy;
  Process process = Start(kTwoSeconds + bundle());
  const RunResult result = Finish(process);
  ASSERT_EQ(result.exit_code, 0) << result.output;
  const nlohmann::json fidelity = Read("summary.json").at("fidelity");
  EXPECT_EQ(fidelity.at("verdict"), "limited") << fidelity;
  EXPECT_LT(fidelity.at("least_idle_share"), 0.35);
  EXPECT_THAT(fidelity.at("limited_by").get<std::vector<std::string>>(),
              Contains(StartsWith("the processor: ")));
  EXPECT_THAT(result.output, HasSubstr("fidelity: limited by the processor: "));
}

TEST_F(EmulatedRunTest, WithoutACountedStepItsFidelityIsNotJudged) {
  Process process = Start(
      "train --quiet --strategy ring --workers 2 --network 100Mbps --steps 2 --warmup-steps 2 "
      "--model profile:small-tensors --out " +
      bundle());
  const RunResult result = Finish(process);
  ASSERT_EQ(result.exit_code, 0) << result.output;
  const nlohmann::json fidelity = Read("summary.json").at("fidelity");
  EXPECT_EQ(fidelity.at("verdict"), nullptr);
  EXPECT_EQ(fidelity.at("not_judged"), "the run ended before the end of a counted step");
  EXPECT_GT(fidelity.at("sent_segments"), 0);
}

TEST_F(EmulatedRunTest, ABenchHasAFidelityToo) {
  Process process = Start(
      "bench --strategy ring,ps-sync --workers 2 --network 100Mbps -b 256KiB -e 1MiB -n 5 -w 1 "
      "--quiet --json");
  const RunResult result = Finish(process);
  ASSERT_EQ(result.exit_code, 0) << result.output;
  const std::size_t begin = result.output.find('{');
  ASSERT_NE(begin, std::string::npos) << result.output;
  const nlohmann::json fidelity =
      nlohmann::json::parse(result.output.substr(begin), nullptr, false).at("fidelity");
  EXPECT_EQ(fidelity.at("not_judged"), "") << fidelity;
  EXPECT_EQ(fidelity.at("jobs"), 3) << "a job of the ring, and one of the servers for each size";
  EXPECT_GT(fidelity.at("judged_seconds"), 0.1);
  EXPECT_TRUE(fidelity.at("least_idle_share").is_number());
}

}  // namespace
}  // namespace ringside
