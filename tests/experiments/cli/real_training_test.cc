// Tests whole jobs with real networks and real data: their results, and how they end when they
// cannot continue.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "ringside/experiments/checkpoint/checkpoint.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/cli/ringside_process.h"
#include "tests/models/data/data_files.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

std::string Contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class RealTraining : public RingsideProcessTest {
 protected:
  // Small, but more buckets than there are servers.
  json Verify(const std::string& args) const {
    const ProcessResult result = RunRingside(
        "verify --model mlp --hidden 32 --data digits --steps 8 --bucket-mb 1KiB --json --quiet " +
        args);
    EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
    const json report = json::parse(result.out, nullptr, false);
    return report.is_object() ? report["rows"] : json::array();
  }

  // At least one row, all of them within their limit.
  static void ExpectEqualToASingleWorker(const json& rows) {
    EXPECT_FALSE(rows.empty());
    for (const json& row : rows) {
      ASSERT_TRUE(row["difference"].is_number()) << row;
      EXPECT_LT(row["difference"], row["limit"]) << row;
    }
  }

  std::set<std::string> SynchronousStrategiesHere() const {
    std::set<std::string> names;
    const json listed = json::parse(RunRingside("list strategies --json").out);
    for (const json& entry : listed["strategies"]) {
      const bool compared = entry["synchronous"] && entry["available"];
      if (compared && entry["name"] != "none") names.insert(entry["name"]);
    }
    return names;
  }

  json Summary(const std::string& bundle) const {
    return json::parse(Contents(scratch() + "/" + bundle + "/summary.json"));
  }

  const TemporaryDirectory data_;
};

TEST_F(RealTraining, EverySynchronousStrategyFollowsTheSingleWorker) {
  const json rows = Verify("--workers 3 --servers 2 --optimizers sgd --repeat none");
  ExpectEqualToASingleWorker(rows);
  std::set<std::string> seen;
  for (const json& row : rows) seen.insert(row["strategy"]);
  EXPECT_EQ(seen, SynchronousStrategiesHere());
}

// The optimizer of these strategies runs in different places: in every worker, on a part of the
// shared memory, in servers.
TEST_F(RealTraining, AdamFollowsItTooAndRepeatsBitForBit) {
  const json rows = Verify(
      "--workers 3 --servers 2 --optimizers adam --strategies ring,halving-doubling,shm,ps-sync");
  ExpectEqualToASingleWorker(rows);
  std::set<std::string> repeated;
  for (const json& row : rows) {
    if (row["same_twice"] == true) repeated.insert(row["strategy"]);
  }
  EXPECT_EQ(repeated, (std::set<std::string>{"ring", "halving-doubling", "shm", "ps-sync"}));
}

// Then the optimizer runs in every worker.
TEST_F(RealTraining, ServersThatOnlySumTrainTheSameParameters) {
  std::set<std::string> hashes;
  for (const char* update : {"on", "off"}) {
    const ProcessResult result = RunRingside(
        "train --model mlp --data digits --steps 12 --workers 2 --strategy ps-sync --servers 2 "
        "--optimizer adam --checkpoint-every 5 --quiet --server-update " +
        std::string(update) + " --out " + update);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    hashes.insert(Summary(update)["params_sha256"]);
  }
  EXPECT_EQ(hashes.size(), 1U);
}

TEST_F(RealTraining, HostsOfUnequalSizeFollowItToo) {
  ExpectEqualToASingleWorker(
      Verify("--workers 3 --hosts 2 --optimizers sgd --strategies hierarchical --repeat none"));
}

// While parameters do not change, the running means of the first layer are linear in the samples.
// So their mean over the workers equals the running mean of one worker with all samples.
constexpr char kStandingStill[] =
    "train --model resnet18 --data digits --steps 3 --global-batch 8 --lr 1e-12 --quiet ";
constexpr std::size_t kFirstLayerMeans = 64;

std::vector<float> BuffersIn(const std::string& checkpoint) {
  return CheckpointFile(checkpoint).Load().buffers;
}

TEST_F(RealTraining, ACheckpointHasTheMeanOfTheWorkersBuffers) {
  for (const char* args : {"--strategy none --workers 1 --out one --checkpoint-every 3",
                           "--strategy ring --workers 2 --out two --checkpoint-every 3"}) {
    const ProcessResult result = RunRingside(kStandingStill + std::string(args));
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  const std::vector<float> one = BuffersIn(scratch() + "/one/checkpoints/step-3.ckpt");
  const std::vector<float> two = BuffersIn(scratch() + "/two/checkpoints/step-3.ckpt");
  ASSERT_EQ(one.size(), two.size());
  ASSERT_GE(one.size(), kFirstLayerMeans);
  for (std::size_t i = 0; i < kFirstLayerMeans; ++i) EXPECT_NEAR(two[i], one[i], 1e-7) << i;
}

// Workers that train alone have the same parameters here, and their own buffers.
TEST_F(RealTraining, AnEvaluationIsDoneWithTheMeanOfTheWorkersBuffers) {
  for (const char* args :
       {"--strategy none --workers 2 --out alone", "--strategy ring --workers 2 --out together"}) {
    const ProcessResult result = RunRingside(kStandingStill + std::string(args));
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  const json alone = Summary("alone");
  const json together = Summary("together");
  EXPECT_NEAR(alone["final_loss"], together["final_loss"], 1e-6);
  EXPECT_GT(std::abs(alone["eval_loss"].get<double>() - together["eval_loss"].get<double>()), 1e-5);
}

TEST_F(RealTraining, ALossThatIsNoNumberFailsAsDiverged) {
  const ProcessResult result = RunRingside(
      "train --model mlp --hidden 32 --data digits --workers 2 --steps 50 --lr 1e30 --out run");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("diverged: worker "));
  EXPECT_EQ(Summary("run")["status"], "diverged");
}

TEST_F(RealTraining, ATruncatedDataFileFailsWithItsPathAndOffset) {
  const std::string images = data_.Path("train-images-idx3-ubyte");
  data_.Write("train-images-idx3-ubyte", IdxImages(20));
  data_.Write("train-labels-idx1-ubyte", IdxLabels(20));
  data_.Write("t10k-images-idx3-ubyte", IdxImages(3));
  data_.Write("t10k-labels-idx1-ubyte", IdxLabels(3));
  const std::string train = "train --model mlp --hidden 32 --data mnist --data-dir " +
                            data_.path() + " --workers 2 --global-batch 4 --steps 2 --quiet --out ";
  ASSERT_EQ(RunRingside(train + "whole").exit_code, 0);
  fs::resize_file(images, fs::file_size(images) - 100);
  const ProcessResult result = RunRingside(train + "truncated");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr(images + ": at byte "));
  EXPECT_THAT(result.err, HasSubstr("20 images"));
  EXPECT_EQ(Summary("truncated")["status"], "failed");
}

}  // namespace
}  // namespace ringside
