// Tests runs whose workers a real mpirun starts. `ringside train` or the test calls mpirun.
// `ringside` lies beside this test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "ringside/common/core/errors.h"
#include "ringside/experiments/job/launcher/externally_launched_rank.h"
#include "ringside/experiments/job/processes/mpirun.h"
#include "ringside/experiments/system/files.h"
#include "ringside/experiments/system/find_program.h"
#include "ringside/experiments/system/private_file.h"
#include "ringside/experiments/system/process.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

/// The argument after `name`; empty if there is none.
std::string ValueAfter(const std::vector<std::string>& arguments, const std::string& name) {
  const auto found = std::ranges::find(arguments, name);
  if (found == arguments.end() || found + 1 == arguments.end()) return "";
  return *(found + 1);
}

TEST(MpirunArguments, AskForAsManyRanksAsThereAreWorkersWhateverTheCores) {
  const auto argv = MpirunArguments(
      {.mpirun = "/usr/bin/mpirun", .workers = 3, .cores = 2, .command = {"program", "argument"}});
  EXPECT_EQ(argv.front(), "/usr/bin/mpirun");
  EXPECT_THAT(argv, IsSupersetOf({"--oversubscribe", "--bind-to", "none", "-np", "3"}));
  EXPECT_EQ(std::vector<std::string>(argv.end() - 2, argv.end()),
            (std::vector<std::string>{"program", "argument"}));
  EXPECT_THAT(argv, Contains("mpi_yield_when_idle"));
  EXPECT_THAT(argv, Not(Contains("--allow-run-as-root")));
}

TEST(MpirunArguments, NameTheDirectoryOfAllFiles) {
  const auto argv = MpirunArguments({.mpirun = "mpirun", .workers = 2, .scratch = "/dev/shm/own"});
  EXPECT_EQ(ValueAfter(argv, "orte_tmpdir_base"), "/dev/shm/own");
  EXPECT_EQ(ValueAfter(argv, "btl_vader_backing_directory"), "/dev/shm/own");
  EXPECT_THAT(MpirunArguments({.mpirun = "mpirun", .workers = 2}),
              Not(Contains("orte_tmpdir_base")));
}

TEST(MpirunArguments, TellOfRootAndOfCoresToSpare) {
  const auto argv =
      MpirunArguments({.mpirun = "mpirun", .workers = 2, .cores = 4, .as_root = true});
  EXPECT_THAT(argv, Contains("--allow-run-as-root"));
  EXPECT_THAT(argv, Not(Contains("mpi_yield_when_idle")));
}

TEST(PrivateFile, IsTheUsersAloneAndGoes) {
  const TemporaryDirectory directory;
  const Environment environment{{"XDG_RUNTIME_DIR", directory.path()}};
  std::string path;
  {
    const PrivateFile file(environment, "secret");
    path = file.path();
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600);
    EXPECT_EQ(ReadPrivateFile(path, 100), "secret");
    EXPECT_THROW(ReadPrivateFile(path, 3), DataError);
    const PrivateFile other(environment, "another");
    EXPECT_NE(other.path(), path);
  }
  EXPECT_FALSE(ReadPrivateFile(path, 100));
}

TEST(MpiJob, RanksOfAnotherLauncherAreRefused) {
  const RankEnvironment ranks{
      .source = "torchrun", .workers = 2, .local_workers = 2, .job_key = "job"};
  try {
    RunExternallyLaunchedRank(ProfileSpec("mpi", 2, 3), {}, ranks, {});
    FAIL() << "expected a refusal";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("started by mpirun, not by torchrun"));
  }
}

class MpiJobTest : public ::testing::Test {
 protected:
  std::string bundle() const { return directory_.path() + "/bundle"; }

  std::vector<std::string> TrainCommand(int workers, int steps) const {
    return {ProgramWithFaults(),
            "train",
            "--strategy",
            "mpi",
            "--workers",
            std::to_string(workers),
            "--model",
            "profile:mobilenet-v2",
            "--compute-ms",
            "5",
            "--steps",
            std::to_string(steps),
            "--out",
            bundle()};
  }

  /// Uses its own directory for the job's secret.
  Process Start(const std::vector<std::string>& command) const {
    const ScopedVariable runtime("XDG_RUNTIME_DIR", directory_.path());
    return Process({.argv = command});
  }

  /// Reads its output until it ends.
  static ProcessEnd Finish(Process& process, std::string& output) {
    WaitUntil("the end of the job", [&] {
      char buffer[4096];
      ssize_t count = 0;
      while ((count = ::read(process.output_fd(), buffer, sizeof(buffer))) > 0) {
        output.append(buffer, static_cast<std::size_t>(count));
      }
      return process.Poll().has_value();
    });
    return *process.Poll();
  }

  void WaitForAStep() const {
    WaitUntil("a step", [&] { return StepsIn(bundle()) >= 1; });
  }

  nlohmann::json Summary() const {
    return nlohmann::json::parse(ReadFile(bundle() + "/summary.json", 1 << 20));
  }

  /// Agents and workers of this test's jobs that still run.
  std::vector<pid_t> Running() const {
    std::vector<pid_t> pids;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (!std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c); })) continue;
      if (EnvironmentOf(name).find("XDG_RUNTIME_DIR=" + directory_.path()) != std::string::npos) {
        pids.push_back(std::stoi(name));
      }
    }
    return pids;
  }

  static std::vector<std::string> CommandLineOf(pid_t pid) {
    std::istringstream text(ReadFile("/proc/" + std::to_string(pid) + "/cmdline", 1 << 20));
    std::vector<std::string> arguments;
    for (std::string argument; std::getline(text, argument, '\0');) arguments.push_back(argument);
    return arguments;
  }

  /// Throws if there is none: a test that signals -1 would end every process.
  pid_t AgentOfRank(int rank) const {
    const std::string variable = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank);
    for (const pid_t pid : Running()) {
      const bool of_rank = EnvironmentOf(std::to_string(pid)).find(variable) != std::string::npos;
      const std::vector<std::string> arguments = CommandLineOf(pid);
      if (of_rank && arguments.size() > 1 && arguments[1] == "agent") return pid;
    }
    throw std::runtime_error("rank " + std::to_string(rank) + " has no agent");
  }

  void ExpectNothingLeft() const {
    WaitUntil("the end of all ranks", [&] { return Running().empty(); });
    EXPECT_TRUE(std::filesystem::is_empty(directory_.path() + "/ringside")) << "a secret is left";
  }

  const TemporaryDirectory directory_;

 private:
  static std::string EnvironmentOf(const std::string& pid) {
    try {
      return ReadFile("/proc/" + pid + "/environ", 1 << 20);
    } catch (const DataError&) {
      return {};  // it has ended, or is another user's
    }
  }
};

TEST_F(MpiJobTest, StartsItselfThroughMpirun) {
  for (const int workers : {1, 3}) {
    std::filesystem::remove_all(bundle());
    Process train = Start(TrainCommand(workers, 4));
    std::string output;
    EXPECT_EQ(Finish(train, output).code, 0) << output;
    EXPECT_EQ(Summary()["status"], "done");
    EXPECT_EQ(Summary()["steps"], 4);
    EXPECT_EQ(Summary()["workers"], workers);
    ExpectNothingLeft();
  }
}

TEST_F(MpiJobTest, JoinsAJobThatMpirunHasStarted) {
  Process mpirun = Start(MpirunArguments({.mpirun = FindProgram("mpirun"),
                                          .workers = 2,
                                          .as_root = ::geteuid() == 0,
                                          .command = TrainCommand(2, 4)}));
  std::string output;
  EXPECT_EQ(Finish(mpirun, output).code, 0) << output;
  EXPECT_EQ(Summary()["status"], "done");
  EXPECT_EQ(Summary()["launcher"], "mpirun");
  ExpectNothingLeft();
}

TEST_F(MpiJobTest, AKilledWorkerEndsAllAndIsNamed) {
  const ScopedVariable fault("RINGSIDE_FAULT", "kill@rank1:step3");
  Process train = Start(TrainCommand(3, 100'000));
  std::string output;
  EXPECT_EQ(Finish(train, output).code, 1) << output;
  EXPECT_THAT(output, ::testing::ContainsRegex("worker 1 \\(pid [0-9]+\\) was killed by signal 9"));
  EXPECT_EQ(Summary()["status"], "failed");
  ExpectNothingLeft();
}

TEST_F(MpiJobTest, AnInterruptDrainsAndKeepsTheResults) {
  Process train = Start(TrainCommand(3, 100'000));
  WaitForAStep();
  ::kill(train.pid(), SIGINT);
  std::string output;
  EXPECT_EQ(Finish(train, output).code, 130) << output;
  EXPECT_EQ(Summary()["status"], "interrupted");
  EXPECT_GE(Summary()["steps"], 1);
  ExpectNothingLeft();
}

TEST_F(MpiJobTest, AKilledMpirunEndsAllAndIsNamed) {
  Process train = Start(TrainCommand(2, 100'000));
  WaitForAStep();
  const pid_t mpirun = PidIn(bundle(), "mpirun");
  const std::string scratch = ValueAfter(CommandLineOf(mpirun), "orte_tmpdir_base");
  ASSERT_TRUE(std::filesystem::exists(scratch));
  EXPECT_FALSE(std::filesystem::is_empty(scratch)) << "its files are elsewhere";
  ::kill(mpirun, SIGKILL);
  std::string output;
  EXPECT_EQ(Finish(train, output).code, 1) << output;
  EXPECT_THAT(output, HasSubstr("was killed by signal 9"));
  ExpectNothingLeft();
  EXPECT_FALSE(std::filesystem::exists(scratch));
}

TEST_F(MpiJobTest, TheFilesOfAKilledLauncherGoWithTheNextJob) {
  std::string scratch;
  {
    Process train = Start(TrainCommand(2, 100'000));
    WaitForAStep();
    scratch = ValueAfter(CommandLineOf(PidIn(bundle(), "mpirun")), "orte_tmpdir_base");
    ::kill(train.pid(), SIGKILL);
    std::string output;
    EXPECT_EQ(Finish(train, output).signal, SIGKILL);
  }
  ExpectNothingLeft();
  EXPECT_TRUE(std::filesystem::exists(scratch));
  std::filesystem::remove_all(bundle());
  Process next = Start(TrainCommand(1, 2));
  std::string output;
  EXPECT_EQ(Finish(next, output).code, 0) << output;
  EXPECT_FALSE(std::filesystem::exists(scratch));
}

// mpirun itself only ends with code 137.
TEST_F(MpiJobTest, AKilledAgentEndsAllAndIsNamed) {
  Process train = Start(TrainCommand(3, 100'000));
  WaitForAStep();
  const pid_t agent = AgentOfRank(1);
  ::kill(agent, SIGKILL);
  std::string output;
  EXPECT_EQ(Finish(train, output).code, 1) << output;
  EXPECT_THAT(output, HasSubstr("agent of rank 1 (pid " + std::to_string(agent) + ")"));
  EXPECT_EQ(Summary()["status"], "failed");
  ExpectNothingLeft();
}

TEST_F(MpiJobTest, RanksDieWithTheirLauncher) {
  Process train = Start(TrainCommand(2, 100'000));
  WaitForAStep();
  ::kill(train.pid(), SIGKILL);
  std::string output;
  EXPECT_EQ(Finish(train, output).signal, SIGKILL);
  ExpectNothingLeft();
}

TEST_F(MpiJobTest, WithoutMpirunItIsRefusedBeforeItStarts) {
  const ScopedVariable path("PATH", "/nowhere");
  Process train = Start(TrainCommand(2, 4));
  std::string output;
  EXPECT_EQ(Finish(train, output).code, 4) << output;
  EXPECT_THAT(output, HasSubstr("install openmpi-bin"));
  EXPECT_FALSE(std::filesystem::exists(bundle()));
}

}  // namespace
}  // namespace ringside
