// Trains cuda: models over stand-ins for CUDA, NCCL and the arithmetic of the GPU. Device memory of
// the stand-ins cannot be touched by the host, and what nobody waited for is not there. So the
// tests show that each strategy gets the gradients, that the model gets the parameters, and that
// all waits are there. They show nothing of a GPU (scripts/gpu_check.sh does).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "tests/gpu/gpu_job.h"

namespace ringside {
namespace {

using nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kTask[] =
    "train --data digits --hidden 24,16 --global-batch 32 --steps 12 --seed 3 "
    "--bucket-mb 2KiB --save-params --out run --force ";

class CudaModel : public GpuJob {
 protected:
  ProcessResult Train(const std::string& flags, const std::string& gpus = "4",
                      const std::string& lr = "0.1") const {
    return OnGpus(gpus, kTask + ("--model cuda:mlp --lr " + lr + " " + flags));
  }
};

struct Case {
  const char* name;
  const char* flags;
  const char* lr = "0.1";
};

void PrintTo(const Case& test_case, std::ostream* out) { *out << test_case.name; }

std::string NameOf(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }

/// Every strategy ends with the parameters of one worker that trains alone, in any of the three
/// ways in which a strategy uses the GPU.
class CudaStrategies : public CudaModel, public ::testing::WithParamInterface<Case> {};

TEST_P(CudaStrategies, TrainAsOneWorkerDoes) {
  ProcessResult result = Train("--strategy none --workers 1");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::vector<float> expected = Parameters();
  const double loss = Summary()["final_loss"];
  result = Train(std::string(GetParam().flags) + " --workers 3");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_LT(RelativeDistance(Parameters(), expected), 1e-5);
  EXPECT_NEAR(Summary()["final_loss"], loss, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(
    Buckets, CudaStrategies,
    ::testing::Values(Case{"nccl", "--strategy nccl"},
                      Case{"nccl_priority", "--strategy nccl --schedule priority"},
                      Case{"nccl_no_overlap", "--strategy nccl --overlap off"}),
    NameOf);
INSTANTIATE_TEST_SUITE_P(
    Updates, CudaStrategies,
    ::testing::Values(Case{"ring", "--strategy ring"}, Case{"tree", "--strategy tree"},
                      Case{"hierarchical", "--strategy hierarchical"},
                      Case{"hierarchical_nccl", "--strategy hierarchical --host-sum nccl"},
                      Case{"hierarchical_two_hosts",
                           "--strategy hierarchical --host-sum nccl --hosts 3"}),
    NameOf);
INSTANTIATE_TEST_SUITE_P(HostMemory, CudaStrategies,
                         ::testing::Values(Case{"shm", "--strategy shm"},
                                           Case{"ps_sync", "--strategy ps-sync --servers 2"},
                                           Case{"ps_sync_shm",
                                                "--strategy ps-sync --ps-transport shm"},
                                           Case{"mixed", "--strategy mixed --servers 1"}),
                         NameOf);

/// The GPU's optimizers, against those of the host, which a server has.
class CudaOptimizers : public CudaModel, public ::testing::WithParamInterface<Case> {};

TEST_P(CudaOptimizers, UpdateAsThoseOfTheHostDo) {
  const std::string flags = GetParam().flags;
  ProcessResult result = Train(flags + " --strategy ps-sync --workers 2", "4", GetParam().lr);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::vector<float> expected = Parameters();
  for (const char* strategy : {"nccl", "ring"}) {
    result = Train(flags + " --workers 2 --strategy " + strategy, "4", GetParam().lr);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_LT(RelativeDistance(Parameters(), expected), 1e-6) << strategy;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, CudaOptimizers,
    ::testing::Values(Case{"decay", "--weight-decay 0.01"}, Case{"momentum", "--momentum 0.9"},
                      Case{"nesterov", "--momentum 0.9 --nesterov"},
                      Case{"adam", "--optimizer adam --weight-decay 0.01", "0.01"},
                      Case{"adamw", "--optimizer adamw --weight-decay 0.01", "0.01"}),
    NameOf);

TEST_F(CudaModel, PeriodicAndAsynchronousStrategiesTrain) {
  for (const char* flags : {"--strategy local-sgd --sync-every 5", "--strategy ps-async"}) {
    const ProcessResult result = Train(std::string(flags) + " --workers 2", "4", "0.3");
    ASSERT_EQ(result.exit_code, 0) << flags << ": " << result.err;
    // It begins at 2.31.
    EXPECT_LT(Summary()["final_loss"].get<double>(), 2.28) << flags;
  }
}

TEST_F(CudaModel, TrainsAsTheNetworkOfTheCpuDoes) {
#ifndef RINGSIDE_HAS_TORCH
  GTEST_SKIP() << "this build has no libtorch";
#endif
  ProcessResult result =
      OnGpus("4", kTask + std::string("--model mlp --lr 0.1 --strategy none --workers 1"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::vector<float> expected = Parameters();
  result = Train("--strategy none --workers 1");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_LT(RelativeDistance(Parameters(), expected), 1e-6);
}

TEST_F(CudaModel, ResumesFromACheckpoint) {
  const std::string flags = "--strategy nccl --workers 2 --momentum 0.9 ";
  ProcessResult result = Train(flags);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::vector<float> expected = Parameters();
  result = OnGpus("4",
                  "train --model cuda:mlp --data digits --hidden 24,16 --global-batch 32 --steps 7 "
                  "--lr 0.1 --seed 3 --bucket-mb 2KiB --checkpoint-every 7 --out first " +
                      flags);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  result = Train(flags + "--resume first");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_LT(RelativeDistance(Parameters(), expected), 1e-6);
}

TEST_F(CudaModel, CopiesNoBucketUnderNcclAndLeavesNothingOnTheGpu) {
  const ProcessResult result = Train("--strategy nccl --workers 2 --momentum 0.9");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  int workers = 0;
  for (const json& log : Logs()) {
    SCOPED_TRACE(log.dump());
    if (log["host_functions"] == 0) continue;  // it has only counted GPUs
    ++workers;
    // The parameters when the job begins and ends. In a step the loss, and for each bucket a few
    // bytes that say whether its gradient is finite. The gradients would be twelve times as much.
    constexpr int kParameterBytes = 2130 * 4;
    EXPECT_LT(log["bytes_to_host"].get<int>(), 4 * kParameterBytes);
    // The host waits for whole streams only when the job ends, and for no device: the stand-in has
    // no cudaDeviceSynchronize, so a program that calls it does not start.
    EXPECT_LE(log["stream_waits"], 3) << "in 12 steps";
    for (const char* left : {"device_blocks_left", "pinned_left", "streams_left", "events_left"}) {
      EXPECT_EQ(log[left], 0) << left;
    }
  }
  EXPECT_EQ(workers, 2);
}

TEST_F(CudaModel, WorkersThatShareAGpuSaySo) {
  const ProcessResult result = Train("--strategy ring --workers 2", "1");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(Summary()["notes"].dump(), HasSubstr("emulated: workers share a GPU and take turns"));
}

TEST_F(CudaModel, WorkersWithAGpuEachDoNot) {
  for (const char* flags :
       {"--strategy ring --workers 2", "--strategy ring --workers 2 --hosts 2"}) {
    const ProcessResult result = Train(flags, "2");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(Summary()["notes"].dump(), Not(HasSubstr("share"))) << flags;
  }
}

TEST_F(CudaModel, AStragglerIsRefused) {
  const ProcessResult result =
      Train("--strategy ring --workers 2 --straggler kind=permanent,worker=1,factor=2");
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("computes on a GPU that goes on"));
}

TEST_F(CudaModel, BenchSumsInTheMemoryOfGpus) {
  const std::string sizes = " --workers 2 -b 4KiB -e 64KiB -f 16 -n 3 -w 1 --memory device --json";
  const ProcessResult result = OnGpus("2", "bench --strategy nccl" + sizes);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json bench = json::parse(result.out);
  EXPECT_EQ(bench["memory"], "device");
  ASSERT_EQ(bench["rows"].size(), 2U);
  for (const json& row : bench["rows"]) EXPECT_EQ(row["wrong"], 0) << row;
  EXPECT_EQ(OnGpus("2", "bench --strategy all" + sizes).exit_code, 0);
  const ProcessResult refused = OnGpus("2", "bench --strategy ring" + sizes);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("ring does not sum in the memory of GPUs"));
}

TEST_F(CudaModel, AMachineWithoutAGpuIsRefused) {
  const ProcessResult result = Train("--strategy ring --workers 2", "0");
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_THAT(result.err,
              ContainsRegex("no GPU is found on [^ ]+ .no CUDA-capable device is detected.;"));
}

TEST_F(CudaModel, ADriverThatIsTooOldIsNamed) {
  const ProcessResult result = Train("--strategy ring --workers 2", "old-driver");
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_THAT(result.err,
              HasSubstr("CUDA driver version is insufficient for CUDA runtime version: the driver "
                        "knows CUDA 10.2, but the library is that of CUDA 1"));
}

TEST_F(CudaModel, AGradientThatIsNotFiniteEndsTheRun) {
  for (const char* strategy : {"nccl", "ring", "ps-sync"}) {
    const ProcessResult result =
        Train(std::string("--workers 2 --strategy ") + strategy, "4", "1e30");
    EXPECT_EQ(result.exit_code, 1) << strategy << ": " << result.err;
    EXPECT_EQ(Summary()["status"], "diverged") << strategy << ": " << result.err;
    EXPECT_THAT(result.err, ContainsRegex("gradient of worker [01].* in bucket [0-9]+ is .* step"));
  }
}

}  // namespace
}  // namespace ringside
