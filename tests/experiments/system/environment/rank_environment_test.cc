#include "ringside/experiments/system/environment/rank_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

std::string Refusal(const Environment& environment) {
  try {
    DetectRankEnvironment(environment);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

const Environment kMpirun{{"OMPI_COMM_WORLD_RANK", "1"},
                          {"OMPI_COMM_WORLD_SIZE", "4"},
                          {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                          {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                          {"PMIX_NAMESPACE", "4711@1"}};
const Environment kTorchrun{{"RANK", "1"},
                            {"WORLD_SIZE", "4"},
                            {"LOCAL_RANK", "0"},
                            {"LOCAL_WORLD_SIZE", "1"},
                            {"MASTER_ADDR", "10.0.0.1"},
                            {"MASTER_PORT", "29500"}};
const Environment kSrun{{"SLURM_PROCID", "3"},
                        {"SLURM_NTASKS", "4"},
                        {"SLURM_LOCALID", "3"},
                        {"SLURM_JOB_ID", "17"},
                        {"SLURM_STEP_ID", "0"}};

Environment With(Environment environment, const std::string& name, const std::string& value) {
  environment[name] = value;
  return environment;
}

TEST(RankEnvironment, IsEmptyWithoutALauncher) {
  EXPECT_FALSE(DetectRankEnvironment({}));
  EXPECT_FALSE(DetectRankEnvironment({{"WORLD_SIZE", "4"}, {"MASTER_ADDR", "10.0.0.1"}}));
}

TEST(RankEnvironment, ReadsMpirun) {
  const auto ranks = DetectRankEnvironment(kMpirun);
  ASSERT_TRUE(ranks);
  EXPECT_EQ(ranks->source, "mpirun");
  EXPECT_EQ(ranks->rank, 1);
  EXPECT_EQ(ranks->workers, 4);
  EXPECT_EQ(ranks->local_workers, 4);
  EXPECT_EQ(ranks->job_key, "4711@1");
}

TEST(RankEnvironment, ReadsTorchrun) {
  const auto ranks = DetectRankEnvironment(kTorchrun);
  ASSERT_TRUE(ranks);
  EXPECT_EQ(ranks->source, "torchrun");
  EXPECT_EQ(ranks->local_rank, 0);
  EXPECT_EQ(ranks->local_workers, 1);
  EXPECT_EQ(ranks->master_address, "10.0.0.1");
  EXPECT_EQ(ranks->master_port, 29500);
  EXPECT_EQ(ranks->job_key, "10.0.0.1:29500");
}

TEST(RankEnvironment, ReadsSrun) {
  const auto ranks = DetectRankEnvironment(kSrun);
  ASSERT_TRUE(ranks);
  EXPECT_EQ(ranks->source, "srun");
  EXPECT_EQ(ranks->rank, 3);
  EXPECT_EQ(ranks->job_key, "17.0");
}

// Slurm sets these variables in the script of a batch job, which is no rank.
TEST(RankEnvironment, TheScriptOfASlurmJobIsNoRank) {
  Environment script = kSrun;
  script.erase("SLURM_STEP_ID");
  EXPECT_FALSE(DetectRankEnvironment(script));
}

// LaunchParameters=use_interactive_step in slurm.conf.
TEST(RankEnvironment, TheShellOfSallocIsNoRank) {
  EXPECT_FALSE(DetectRankEnvironment(With(kSrun, "SLURM_STEP_ID", "4294967290")));
}

TEST(RankEnvironment, AnotherLauncherInsideOfASlurmStepIsTheOneThatCounts) {
  for (const Environment& inner : {kMpirun, kTorchrun}) {
    Environment both = inner;
    both.insert(kSrun.begin(), kSrun.end());  // rank 3, the others rank 1
    const auto ranks = DetectRankEnvironment(both);
    ASSERT_TRUE(ranks);
    EXPECT_EQ(ranks->rank, 1);
    EXPECT_EQ(ranks->source, DetectRankEnvironment(inner)->source);
  }
  Environment alike = With(kTorchrun, "RANK", "3");
  alike.insert(kSrun.begin(), kSrun.end());
  EXPECT_EQ(DetectRankEnvironment(alike)->source, "torchrun+srun");
}

TEST(RankEnvironment, CountsTheTasksOfASlurmNodeAlone) {
  const auto local_workers = [](const char* tasks, const char* node) {
    const Environment step = With(kSrun, "SLURM_STEP_TASKS_PER_NODE", tasks);
    return DetectRankEnvironment(With(step, "SLURM_NODEID", node))->local_workers;
  };
  EXPECT_EQ(local_workers("4", "0"), 4);
  EXPECT_EQ(local_workers("3,1", "0"), 3);
  EXPECT_EQ(local_workers("3,1", "1"), 1);
  for (const char* node : {"0", "1", "2"}) EXPECT_EQ(local_workers("2(x3)", node), 2);
  EXPECT_EQ(local_workers("2(x3),1,5(x2)", "3"), 1);
  EXPECT_EQ(local_workers("2(x3),1,5(x2)", "5"), 5);
  // What was asked for when the job was submitted says less than the step.
  Environment asked = With(kSrun, "SLURM_NTASKS_PER_NODE", "7");
  EXPECT_EQ(DetectRankEnvironment(asked)->local_workers, 7);
  asked["SLURM_STEP_TASKS_PER_NODE"] = "4";
  asked["SLURM_NODEID"] = "0";
  EXPECT_EQ(DetectRankEnvironment(asked)->local_workers, 4);
}

TEST(RankEnvironment, TwoStepsOfASlurmJobAreTwoJobs) {
  EXPECT_EQ(DetectRankEnvironment(With(kSrun, "SLURM_STEP_ID", "0"))->job_key, "17.0");
  EXPECT_EQ(DetectRankEnvironment(With(kSrun, "SLURM_STEP_ID", "1"))->job_key, "17.1");
}

TEST(RankEnvironment, BadTasksOfNodesAreRefusedByName) {
  const auto refusal = [](const char* tasks, const char* node) {
    const Environment step = With(kSrun, "SLURM_STEP_TASKS_PER_NODE", tasks);
    return Refusal(With(step, "SLURM_NODEID", node));
  };
  EXPECT_THAT(refusal("3,1", "2"), HasSubstr("=3,1: there is no node 2"));
  for (const char* bad : {"x", "3,", "3(x", "3(x2", "3(x0)", "0", "3;1", "(x2)", "3(xx)", "-1"}) {
    EXPECT_THAT(refusal(bad, "0"), HasSubstr("expected numbers of tasks")) << bad;
  }
  EXPECT_THAT(Refusal(With(kSrun, "SLURM_STEP_TASKS_PER_NODE", "3,1")),
              HasSubstr("SLURM_NODEID is not set"));
}

TEST(RankEnvironment, ReadsTheRoleOfServersOnTheirOwnHosts) {
  EXPECT_FALSE(DetectRankEnvironment(kTorchrun)->starts_servers);
  const auto worker = DetectRankEnvironment(With(kTorchrun, "RINGSIDE_ROLE", "worker"));
  EXPECT_TRUE(worker->starts_servers);
  EXPECT_EQ(worker->part, RankEnvironment::ProcessRole::kWorker);
  Environment environment = With(kTorchrun, "RINGSIDE_ROLE", "server");
  environment["RANK"] = "7";  // there may be more servers than workers
  const auto server = DetectRankEnvironment(environment);
  EXPECT_EQ(server->part, RankEnvironment::ProcessRole::kServer);
  EXPECT_EQ(server->rank, 7);
  environment["RANK"] = "0";
  EXPECT_FALSE(DetectRankEnvironment(environment)->hosts());
  EXPECT_THAT(Refusal(With(kTorchrun, "RINGSIDE_ROLE", "boss")),
              HasSubstr("RINGSIDE_ROLE=boss: expected worker or server"));
}

TEST(RankEnvironment, SourcesThatAgreeAreOne) {
  Environment both = kMpirun;
  both.insert(kTorchrun.begin(), kTorchrun.end());
  const auto ranks = DetectRankEnvironment(both);
  ASSERT_TRUE(ranks);
  EXPECT_EQ(ranks->source, "mpirun+torchrun");
  EXPECT_EQ(ranks->master_address, "10.0.0.1");
}

TEST(RankEnvironment, ConflictsAreRefusedNamingBoth) {
  Environment both = kMpirun;
  both.insert(kTorchrun.begin(), kTorchrun.end());
  both["RANK"] = "3";
  EXPECT_THAT(Refusal(both), HasSubstr("OMPI_COMM_WORLD_RANK=1 and RANK=3 disagree"));
  Environment sizes = With(kMpirun, "RANK", "1");
  sizes["WORLD_SIZE"] = "2";
  EXPECT_THAT(Refusal(sizes), HasSubstr("OMPI_COMM_WORLD_SIZE=4 and WORLD_SIZE=2 disagree"));
}

TEST(RankEnvironment, BadValuesAreRefusedByName) {
  Environment no_size = kTorchrun;
  no_size.erase("WORLD_SIZE");
  EXPECT_THAT(Refusal(no_size), HasSubstr("WORLD_SIZE is not set"));
  EXPECT_THAT(Refusal(With(kTorchrun, "RANK", "one")), HasSubstr("RANK=one"));
  EXPECT_THAT(Refusal(With(kTorchrun, "RANK", "-1")), HasSubstr("RANK=-1"));
  EXPECT_THAT(Refusal(With(kTorchrun, "RANK", "4")), HasSubstr("RANK=4, but WORLD_SIZE=4"));
  EXPECT_THAT(Refusal(With(kTorchrun, "MASTER_PORT", "70000")), HasSubstr("MASTER_PORT=70000"));
  Environment no_name = kTorchrun;
  no_name.erase("MASTER_PORT");
  EXPECT_THAT(Refusal(no_name), HasSubstr("set MASTER_ADDR and MASTER_PORT"));
}

}  // namespace
}  // namespace ringside
