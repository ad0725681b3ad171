// Jobs that another launcher has started: the variables, the rendezvous, real ranks.
#include "experiments/job/joined_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/errors.h"
#include "experiments/job/files.h"
#include "experiments/job/network_address.h"
#include "experiments/job/process.h"
#include "experiments/job/rendezvous_file.h"
#include "tests/experiments/job/job_testing.h"

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
const Environment kSrun{
    {"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "4"}, {"SLURM_LOCALID", "3"}, {"SLURM_JOB_ID", "17"}};

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
  EXPECT_EQ(ranks->job_key, "17");
}

TEST(RankEnvironment, ReadsTheRoleOfServersOnTheirOwnHosts) {
  EXPECT_FALSE(DetectRankEnvironment(kTorchrun)->starts_servers);
  const auto worker = DetectRankEnvironment(With(kTorchrun, "RINGSIDE_ROLE", "worker"));
  EXPECT_TRUE(worker->starts_servers);
  EXPECT_EQ(worker->part, RankEnvironment::Part::kWorker);
  Environment environment = With(kTorchrun, "RINGSIDE_ROLE", "server");
  environment["RANK"] = "7";  // there may be more servers than workers
  const auto server = DetectRankEnvironment(environment);
  EXPECT_EQ(server->part, RankEnvironment::Part::kServer);
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
  both.insert(kSrun.begin(), kSrun.end());
  EXPECT_THAT(Refusal(both), HasSubstr("OMPI_COMM_WORLD_RANK=1 and SLURM_PROCID=3 disagree"));
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

TEST(NetworkAddress, TellsLoopbackFromOtherAddresses) {
  EXPECT_TRUE(IsLoopback("127.0.0.1"));
  EXPECT_TRUE(IsLoopback("127.1.2.3"));
  EXPECT_TRUE(IsLoopback("::1"));
  EXPECT_FALSE(IsLoopback("10.0.0.1"));
  EXPECT_THROW(IsLoopback("localhost"), ConfigError);
  EXPECT_EQ(SourceAddressTowards("127.0.0.1"), "127.0.0.1");
  EXPECT_THROW(RefuseOpenNetwork("10.0.0.1", false), ConfigError);
  EXPECT_NO_THROW(RefuseOpenNetwork("10.0.0.1", true));
}

class RendezvousTest : public ::testing::Test {
 protected:
  const TemporaryDirectory directory_;
  const Environment environment_{{"XDG_RUNTIME_DIR", directory_.path()}};
  const Deadline at_once_ = Deadline::After(std::chrono::milliseconds(1));
};

TEST_F(RendezvousTest, IsFoundByItsKeyAndRemoved) {
  std::string path;
  {
    const RendezvousFile file(environment_, "key", {"127.0.0.1:1", "token"});
    path = file.path();
    const Meeting meeting = RendezvousFile::Wait(environment_, "key", at_once_);
    EXPECT_EQ(meeting.target, "127.0.0.1:1");
    EXPECT_EQ(meeting.token, "token");
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600);
    EXPECT_THROW(RendezvousFile::Wait(environment_, "other key", at_once_), CommError);
    EXPECT_THROW(RendezvousFile(environment_, "key", {"127.0.0.1:2", "token"}), ConfigError);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(RendezvousTest, TheFileOfADeadJobIsNoRendezvous) {
  const RendezvousFile file(environment_, "key", {"127.0.0.1:1", "token"});
  auto json = nlohmann::json::parse(ReadFile(file.path(), 4096));
  json["start"] = "1";  // another process had this pid
  WriteFileAtomically(file.path(), json.dump(), 0600);
  EXPECT_THROW(RendezvousFile::Wait(environment_, "key", at_once_), CommError);
  const RendezvousFile next(environment_, "key", {"127.0.0.1:2", "token"});
  EXPECT_EQ(RendezvousFile::Wait(environment_, "key", at_once_).target, "127.0.0.1:2");
}

TEST_F(RendezvousTest, ADirectoryOrFileOpenToOthersIsRefused) {
  const RendezvousFile file(environment_, "key", {"127.0.0.1:1", "token"});
  std::filesystem::permissions(file.path(), std::filesystem::perms(0644));
  EXPECT_THROW(RendezvousFile::Wait(environment_, "key", at_once_), ConfigError);
  std::filesystem::permissions(directory_.path() + "/ringside", std::filesystem::perms(0755));
  EXPECT_THROW(RendezvousFile(environment_, "two", {"127.0.0.1:1", "token"}), ConfigError);
}

TEST_F(RendezvousTest, ATokenFileMustBeLongAndPrivate) {
  const std::string path = directory_.path() + "/token";
  WriteFileAtomically(path, std::string(64, 'a') + "\n", 0600);
  EXPECT_EQ(ReadTokenFile(path), std::string(64, 'a'));
  std::filesystem::permissions(path, std::filesystem::perms(0640));
  EXPECT_THROW(ReadTokenFile(path), ConfigError);
  WriteFileAtomically(path, "short\n", 0600);
  EXPECT_THROW(ReadTokenFile(path), ConfigError);
  EXPECT_THROW(ReadTokenFile(directory_.path() + "/missing"), ConfigError);
}

TEST(JoinedJob, TheSpecsWorkersMustBeTheJobs) {
  const RankEnvironment ranks{
      .source = "mpirun", .rank = 0, .workers = 3, .local_workers = 3, .job_key = "job"};
  EXPECT_THROW(RunJoinedJob(ProfileSpec("ring", 2, 3), {}, ranks, {}), ConfigError);
}

TEST(JoinedJob, AnOpenNetworkIsRefused) {
  const RankEnvironment ranks{.source = "torchrun",
                              .rank = 0,
                              .workers = 2,
                              .local_workers = 1,
                              .master_address = "192.0.2.1",
                              .master_port = 29500,
                              .job_key = "192.0.2.1:29500"};
  EXPECT_THROW(RunJoinedJob(ProfileSpec("ring", 2, 3), {}, ranks, {}), ConfigError);
}

/// Real processes of `ringside train`, as another launcher starts them.
class RealRanksTest : public ::testing::Test {
 protected:
  std::string bundle() const { return directory_.path() + "/bundle"; }

  std::vector<std::string> TrainCommand(const std::string& strategy, int steps) const {
    return {DirectoryOfThisExecutable() + "/ringside",
            "train",
            "--strategy",
            strategy,
            "--model",
            "profile:mobilenet-v2",
            "--compute-ms",
            "5",
            "--steps",
            std::to_string(steps),
            "--out",
            bundle()};
  }

  /// Rank `rank` of two, or server `rank`, told of its rank as torchrun does.
  Process StartRank(int rank, const std::string& strategy, int steps,
                    const std::vector<std::string>& more_variables = {},
                    const std::string& directory = ".") const {
    std::vector<std::string> argv{"/usr/bin/env",
                                  "--chdir=" + directory,
                                  "RANK=" + std::to_string(rank),
                                  "WORLD_SIZE=2",
                                  "LOCAL_RANK=" + std::to_string(rank),
                                  "MASTER_ADDR=127.0.0.1",
                                  "MASTER_PORT=29500",
                                  "XDG_RUNTIME_DIR=" + directory_.path()};
    const auto command = TrainCommand(strategy, steps);
    argv.insert(argv.end(), more_variables.begin(), more_variables.end());
    argv.insert(argv.end(), command.begin(), command.end());
    return Process({.argv = argv});
  }

  /// Reads its output until it ends.
  static ProcessEnd Finish(Process& process, std::string& output) {
    WaitUntil("the end of a rank", [&] {
      char buffer[4096];
      ssize_t count = 0;
      while ((count = ::read(process.output_fd(), buffer, sizeof(buffer))) > 0) {
        output.append(buffer, static_cast<std::size_t>(count));
      }
      return process.Poll().has_value();
    });
    return *process.Poll();
  }

  nlohmann::json Summary() const {
    return nlohmann::json::parse(ReadFile(bundle() + "/summary.json", 1 << 20));
  }

  const TemporaryDirectory directory_;
};

TEST_F(RealRanksTest, TorchrunStyleRanksMeet) {
  for (const char* strategy : {"ring", "ps-sync"}) {
    std::filesystem::remove_all(bundle());
    // Rank 1 comes first and waits.
    Process second = StartRank(1, strategy, 4);
    Process first = StartRank(0, strategy, 4);
    std::string output;
    EXPECT_EQ(Finish(first, output).code, 0) << output;
    EXPECT_EQ(Finish(second, output).code, 0) << output;
    EXPECT_EQ(Summary()["status"], "done");
    EXPECT_EQ(Summary()["workers"], 2);
    EXPECT_EQ(Summary()["launcher"], "torchrun");
    EXPECT_EQ(Summary()["steps"], 4);
    EXPECT_TRUE(std::filesystem::is_empty(directory_.path() + "/ringside"));
  }
}

// Found out at the start: the ones who do more steps would wait for the others' in vain.
TEST_F(RealRanksTest, OtherCheckpointsUnderOneNameAreRefused) {
  namespace fs = std::filesystem;
  RunSpec spec = ProfileSpec("ring", 1, 3);
  spec.model = "profile:mobilenet-v2";
  spec.checkpoint_every = 1;
  const std::string whole = directory_.path() + "/whole";
  const JobOptions options{.bundle_dir = whole, .show_progress = false, .echo_logs = false};
  ASSERT_EQ(RunJob(spec, options).status, JobStatus::kDone);
  std::vector<Process> ranks;
  for (const int rank : {1, 0}) {
    const std::string own = directory_.path() + "/rank" + std::to_string(rank);
    fs::create_directory(own);
    fs::copy_file(whole + "/checkpoints/step-" + std::to_string(rank + 1) + ".ckpt",
                  own + "/start.ckpt");
    ranks.push_back(StartRank(rank, "ps-sync", 4, {"RINGSIDE_RESUME=start.ckpt"}, own));
  }
  std::string output;
  for (Process& process : ranks) EXPECT_EQ(Finish(process, output).code, 2) << output;
  EXPECT_THAT(Summary()["error"].get<std::string>(), HasSubstr("the checkpoint's steps differ"));
}

TEST_F(RealRanksTest, ServersJoinFromElsewhere) {
  const std::vector<std::string> worker{"RINGSIDE_ROLE=worker", "RINGSIDE_SERVERS=2"};
  const std::vector<std::string> server{"RINGSIDE_ROLE=server", "RINGSIDE_SERVERS=2"};
  std::vector<Process> all;
  all.push_back(StartRank(1, "ps-sync", 4, server));
  all.push_back(StartRank(1, "ps-sync", 4, worker));
  all.push_back(StartRank(0, "ps-sync", 4, worker));
  all.push_back(StartRank(0, "ps-sync", 4, server));
  std::string output;
  for (Process& process : all) EXPECT_EQ(Finish(process, output).code, 0) << output;
  EXPECT_EQ(Summary()["status"], "done");
  EXPECT_EQ(Summary()["servers"], 2);
  const auto processes = nlohmann::json::parse(ReadFile(bundle() + "/processes.json", 1 << 20));
  EXPECT_EQ(processes.size(), 1U) << "rank 0 starts its worker alone: " << processes;
}

TEST_F(RealRanksTest, TheDeathOfAServerElsewhereEndsTheJob) {
  Process server = StartRank(0, "ps-sync", 100'000, {"RINGSIDE_ROLE=server"});
  Process first = StartRank(0, "ps-sync", 100'000, {"RINGSIDE_ROLE=worker"});
  Process second = StartRank(1, "ps-sync", 100'000, {"RINGSIDE_ROLE=worker"});
  WaitUntil("a step", [&] { return StepsIn(bundle()) >= 1; });
  server.Signal(SIGKILL);
  std::string output;
  EXPECT_EQ(Finish(first, output).code, 1) << output;
  EXPECT_EQ(Finish(second, output).code, 1) << output;
  EXPECT_THAT(output, HasSubstr("server 0"));
}

TEST_F(RealRanksTest, AServerThatTheJobDoesNotHaveIsRefused) {
  Process server = StartRank(3, "ps-sync", 4, {"RINGSIDE_ROLE=server"});
  std::string output;
  EXPECT_EQ(Finish(server, output).code, 2);
  EXPECT_THAT(output, HasSubstr("to be server 3, but the job has 1 dedicated servers"));
}

TEST_F(RealRanksTest, TheFailureOfOneRankEndsAllAndIsNamedEverywhere) {
  const ScopedVariable fault("RINGSIDE_FAULT", "kill@rank1:step3");
  Process first = StartRank(0, "ring", 100'000);
  Process second = StartRank(1, "ring", 100'000);
  std::string first_output, second_output;
  EXPECT_EQ(Finish(first, first_output).code, 1) << first_output;
  EXPECT_EQ(Finish(second, second_output).code, 1) << second_output;
  EXPECT_THAT(first_output, HasSubstr("worker 1 (pid "));
  EXPECT_THAT(first_output, HasSubstr("was killed by signal 9"));
  EXPECT_THAT(second_output, HasSubstr("worker 1 (pid "));
  EXPECT_TRUE(ProcessesOfGroup(PidIn(bundle(), "worker 0")).empty());
}

TEST_F(RealRanksTest, AKilledAgentEndsTheJob) {
  Process first = StartRank(0, "ring", 100'000);
  Process second = StartRank(1, "ring", 100'000);
  WaitUntil("a step", [&] { return StepsIn(bundle()) >= 1; });
  second.Signal(SIGKILL);
  std::string output;
  EXPECT_EQ(Finish(first, output).code, 1) << output;
  EXPECT_THAT(output, ::testing::ContainsRegex("(worker 1|agent of rank 1)"));
}

TEST_F(RealRanksTest, AnInterruptOfAnyRankDrainsTheJob) {
  Process first = StartRank(0, "ring", 100'000);
  Process second = StartRank(1, "ring", 100'000);
  WaitUntil("a step", [&] { return StepsIn(bundle()) >= 1; });
  second.Signal(SIGINT);
  std::string output;
  EXPECT_EQ(Finish(first, output).code, 130) << output;
  EXPECT_EQ(Finish(second, output).code, 130) << output;
  EXPECT_EQ(Summary()["status"], "interrupted");
}

TEST_F(RealRanksTest, MpirunStartsAJob) {
  ASSERT_TRUE(std::filesystem::exists("/usr/bin/mpirun")) << "install openmpi-bin";
  std::vector<std::string> argv{"/usr/bin/env",
                                "OMPI_ALLOW_RUN_AS_ROOT=1",
                                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                "XDG_RUNTIME_DIR=" + directory_.path(),
                                "/usr/bin/mpirun",
                                "-np",
                                "2",
                                "--oversubscribe"};
  const auto command = TrainCommand("ring", 3);
  argv.insert(argv.end(), command.begin(), command.end());
  Process mpirun({.argv = argv});
  std::string output;
  EXPECT_EQ(Finish(mpirun, output).code, 0) << output;
  EXPECT_EQ(Summary()["status"], "done");
  EXPECT_EQ(Summary()["launcher"], "mpirun");
  EXPECT_EQ(Summary()["workers"], 2);
}

}  // namespace
}  // namespace ringside
