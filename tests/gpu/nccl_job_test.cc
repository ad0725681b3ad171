// Runs the strategies of NCCL over stand-ins for CUDA and NCCL. They show that the program calls
// both in the right order and waits where it must. They show nothing of a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "tests/gpu/gpu_job.h"

namespace ringside {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class NcclJob : public GpuJob {
 protected:
  /// Trains with the gradients of MobileNet for a few steps into the directory `run`.
  ProcessResult Train(const std::string& gpus, const std::string& flags,
                      const std::string& more = "") const {
    return OnGpus(gpus,
                  "train --model profile:mobilenet-v2 --compute-ms 2 --steps 12 "
                  "--out run --force " +
                      flags,
                  more);
  }
};

class NcclStrategies : public NcclJob, public ::testing::WithParamInterface<const char*> {};

TEST_P(NcclStrategies, TrainAsARingDoes) {
  const ProcessResult ring = Train("4", "--strategy ring --workers 4 --save-params");
  ASSERT_EQ(ring.exit_code, 0) << ring.err;
  const std::vector<float> expected = Parameters();
  ASSERT_FALSE(expected.empty());
  const ProcessResult result = Train("4", std::string(GetParam()) + " --workers 4 --save-params");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_LT(RelativeDistance(Parameters(), expected), 1e-6);
  EXPECT_EQ(Summary()["status"], "done");
}

INSTANTIATE_TEST_SUITE_P(
    All, NcclStrategies,
    ::testing::Values("--strategy nccl", "--strategy nccl --nccl-algorithm tree",
                      "--strategy nccl --bucket-mb 0", "--strategy nccl --schedule priority",
                      "--strategy nccl --overlap off", "--strategy hierarchical --host-sum nccl",
                      "--strategy hierarchical --host-sum nccl --hosts 2"));

TEST_F(NcclJob, WorkersThatShareAGpuSaySo) {
  const ProcessResult result = Train("1", "--strategy nccl --workers 3 --nccl-share-gpu");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(Summary()["notes"].dump(), HasSubstr("emulated: workers share a GPU"));
}

TEST_F(NcclJob, CopiesPinnedMemoryAndLeavesNothingOnTheGpu) {
  const ProcessResult result = Train("2", "--strategy nccl --workers 2");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  int workers = 0;
  for (const json& log : Logs()) {
    SCOPED_TRACE(log.dump());
    if (log["host_functions"] == 0) continue;  // it has only counted GPUs
    ++workers;
    EXPECT_GT(log["pinned_copies"], 2 * 12) << "to the GPU and back in each step";
    // Gathers of a few bytes at the start and the end.
    EXPECT_LT(log["pageable_copies"].get<int>(), log["pinned_copies"].get<int>());
    for (const char* left : {"device_blocks_left", "pinned_left", "streams_left", "events_left"}) {
      EXPECT_EQ(log[left], 0) << left;
    }
  }
  EXPECT_EQ(workers, 2);
}

TEST_F(NcclJob, AMachineWithoutAGpuIsRefused) {
  const ProcessResult result = Train("0", "--strategy nccl --workers 2");
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_THAT(result.err,
              ContainsRegex("no GPU is found on [^ ]+ .no CUDA-capable device is detected.;"));
}

TEST_F(NcclJob, ADriverThatIsTooOldIsNamed) {
  const ProcessResult result = Train("old-driver", "--strategy nccl --workers 2");
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_THAT(result.err,
              HasSubstr("CUDA driver version is insufficient for CUDA runtime version: the driver "
                        "knows CUDA 10.2, but the library is that of CUDA 1"));
}

TEST_F(NcclJob, MoreWorkersThanGpusAreRefused) {
  const ProcessResult result = Train("1", "--strategy nccl --workers 2");
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_THAT(result.err, HasSubstr("2 workers on a host with 1 GPU"));
}

TEST_F(NcclJob, AnOperationThatNeverEndsIsGivenUp) {
  const ProcessResult result =
      Train("2", "--strategy nccl --workers 2 --timeout 1s", "RINGSIDE_STAND_IN_FAULT=hang:1:20");
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("all-reduce of bucket"), HasSubstr("step"),
                                HasSubstr("it took longer than its timeout")));
  EXPECT_EQ(Summary()["failure"]["kind"], "comm");
}

TEST_F(NcclJob, AnErrorOfNcclEndsTheRun) {
  const ProcessResult result =
      Train("2", "--strategy nccl --workers 2 --timeout 1s", "RINGSIDE_STAND_IN_FAULT=fail:1:20");
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("unhandled system error"));
}

TEST_F(NcclJob, DoctorNamesWhatIsMissing) {
  EXPECT_THAT(OnGpus("2", "doctor").out, Not(HasSubstr("no GPU is found on ")));
  EXPECT_THAT(OnGpus("0", "doctor").out, HasSubstr("no GPU is found on "));
}

}  // namespace
}  // namespace ringside
