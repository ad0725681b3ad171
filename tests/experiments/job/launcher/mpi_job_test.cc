// Tests runs whose workers a real mpirun starts. `ringside train` or the test calls mpirun.
// `ringside` lies beside this test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/job/launcher/externally_launched_rank.h"
#include "ringside/experiments/job/processes/mpirun.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/files/find_program.h"
#include "ringside/experiments/system/files/private_file.h"
#include "ringside/experiments/system/processes/process.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::ResultOf;
using ::testing::StartsWith;

/// The local addresses at which any process of this machine listens on TCP, by the socket's inode.
/// They are hexadecimal, as the kernel writes them: an IPv4 address has 8 digits.
std::map<std::string, std::string> Listeners() {
  constexpr const char* kListens = "0A";
  std::map<std::string, std::string> listeners;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    if (!std::filesystem::exists(table)) continue;  // the kernel may have no IPv6
    std::istringstream lines(ReadFile(table, 16 << 20));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      const std::vector<std::string> fields{std::istream_iterator<std::string>(words), {}};
      if (fields.size() < 10 || fields[3] != kListens) continue;
      listeners[fields[9]] = fields[1].substr(0, fields[1].find(':'));
    }
  }
  return listeners;
}

/// The addresses among these at which one of the processes listens.
std::vector<std::string> AddressesOf(const std::vector<pid_t>& pids,
                                     const std::map<std::string, std::string>& listeners) {
  constexpr std::string_view kSocket = "socket:[";
  std::vector<std::string> addresses;
  for (const pid_t pid : pids) {
    std::error_code gone;
    const std::string fds = "/proc/" + std::to_string(pid) + "/fd";
    for (std::filesystem::directory_iterator fd(fds, gone), end; !gone && fd != end;
         fd.increment(gone)) {
      std::error_code closed;
      const std::string target = std::filesystem::read_symlink(fd->path(), closed);
      if (closed || !target.starts_with(kSocket)) continue;
      const auto found =
          listeners.find(target.substr(kSocket.size(), target.size() - kSocket.size() - 1));
      if (found != listeners.end()) addresses.push_back(found->second);
    }
  }
  return addresses;
}

/// 127.0.0.0/8, ::1, or the former as an IPv6 address. Each word of 32 bits has its last byte
/// first.
bool IsKernelLoopback(const std::string& address) {
  constexpr std::size_t kIpv4Digits = 8;
  if (address.size() == kIpv4Digits) return address.ends_with("7F");
  return address == "00000000000000000000000001000000" ||
         (address.starts_with("0000000000000000FFFF0000") && address.ends_with("7F"));
}

// For an end that somebody sees on a busy machine; for a lease and a look at it (docs/faults.md).
constexpr double kBoundSeconds = 5;
constexpr double kLeaseBoundSeconds = 6;

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

TEST(MpirunArguments, GiveTheRanksTheirOwnPreload) {
  const std::vector<std::string> command{"program"};
  const auto argv =
      MpirunArguments({.mpirun = "mpirun", .workers = 2, .command = command, .preload = "own.so"});
  EXPECT_EQ(ValueAfter(argv, "-x"), "LD_PRELOAD=own.so");
  EXPECT_THAT(MpirunArguments({.mpirun = "mpirun", .workers = 2}), Not(Contains("-x")));
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

  /// What the kernel says of a process in one of its files.
  static std::string TextOf(pid_t pid, const std::string& file) {
    try {
      return ReadFile("/proc/" + std::to_string(pid) + "/" + file, 16 << 20);
    } catch (const DataError&) {
      return {};  // it has ended, or is another user's
    }
  }

  /// The processes of this test's jobs that still run: launcher, mpirun, agents and workers.
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

  /// The files in /dev/shm that processes of this test's jobs have mapped.
  std::vector<std::string> MappedMemory() const {
    constexpr std::string_view kMemory = "/dev/shm/";
    std::vector<std::string> files;
    for (const pid_t pid : Running()) {
      std::istringstream lines(TextOf(pid, "maps"));
      for (std::string line; std::getline(lines, line);) {
        const std::size_t path = line.find(kMemory);
        if (path != std::string::npos) files.push_back(line.substr(path));
      }
    }
    return files;
  }

  /// Runs a job whose worker 1 has a fault (`PlannedFault`). It must be named with this kind, at
  /// most so long after the fault.
  void ExpectFoundWithin(const std::string& fault, const std::string& kind, double bound_s,
                         std::string& output) const {
    const std::string struck = directory_.Path("struck");
    const ScopedVariable planned("RINGSIDE_FAULT", fault + "@rank1:step3");
    const ScopedVariable once("RINGSIDE_FAULT_ONCE", struck);
    const auto start = std::filesystem::file_time_type::clock::now();
    Process train = Start(TrainCommand(3, 100'000));
    EXPECT_EQ(Finish(train, output).code, 1) << output;
    ASSERT_TRUE(std::filesystem::exists(struck)) << output;
    const std::chrono::duration<double> before = std::filesystem::last_write_time(struck) - start;
    const nlohmann::json summary = Summary();
    EXPECT_EQ(summary["status"], "failed");
    ASSERT_TRUE(summary["failure"].is_object()) << output;
    EXPECT_EQ(summary["failure"]["kind"], kind) << output;
    EXPECT_EQ(summary["failure"]["member"], "worker 1") << output;
    EXPECT_LT(summary["failure"]["seconds"].get<double>() - before.count(), bound_s) << output;
    ExpectNothingLeft();
  }

  void ExpectNothingLeft() const {
    WaitUntil("the end of all ranks", [&] { return Running().empty(); });
    EXPECT_TRUE(std::filesystem::is_empty(directory_.path() + "/ringside")) << "a secret is left";
  }

  const TemporaryDirectory directory_;

 private:
  static std::string EnvironmentOf(const std::string& pid) {
    return TextOf(std::stoi(pid), "environ");
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

TEST_F(MpiJobTest, AWorkerThatFreezesAfterItsResultHoldsNobodyUp) {
  const ScopedVariable fault("RINGSIDE_FAULT", "freeze@rank1:step0:member.left");
  Process train = Start(TrainCommand(2, 4));
  std::string output;
  EXPECT_EQ(Finish(train, output).code, 0) << output;
  EXPECT_THAT(output, HasSubstr("worker 1 handed in all results, but did not end within 10 s"));
  EXPECT_EQ(Summary()["status"], "done");
  ExpectNothingLeft();
}

TEST_F(MpiJobTest, AKilledWorkerEndsAllAndIsNamed) {
  std::string output;
  ExpectFoundWithin("kill", "signal", kBoundSeconds, output);
  EXPECT_THAT(output, ::testing::ContainsRegex("worker 1 \\(pid [0-9]+\\) was killed by signal 9"));
}

TEST_F(MpiJobTest, AWorkerThatExitsEarlyEndsAllAndIsNamed) {
  std::string output;
  ExpectFoundWithin("exit", "early exit", kBoundSeconds, output);
  EXPECT_THAT(output, HasSubstr("exited with code 0"));
}

TEST_F(MpiJobTest, AFrozenWorkerEndsAllAndIsNamed) {
  std::string output;
  ExpectFoundWithin("freeze", "lost", kLeaseBoundSeconds, output);
  EXPECT_THAT(output, HasSubstr("is lost: no heartbeat for"));
  EXPECT_THAT(output, ::testing::ContainsRegex("last words: .*worker 1"));
  const nlohmann::json words = Summary()["last_words"];
  ASSERT_EQ(words.size(), 3U) << words;
  EXPECT_EQ(words[0]["member"], "worker 1") << "the others wait for it";
  // MPI does not tell for whom an allreduce waits.
  for (const int other : {1, 2}) {
    EXPECT_THAT(words[other]["activity"].get<std::string>(), HasSubstr("waits for bucket"))
        << words;
  }
}

TEST_F(MpiJobTest, AllOfItListensOnLoopback) {
  Process train = Start(TrainCommand(2, 100'000));
  WaitForAStep();
  const auto listeners = Listeners();
  EXPECT_THAT(AddressesOf({PidIn(bundle(), "mpirun")}, listeners), Not(IsEmpty()));
  EXPECT_THAT(AddressesOf(Running(), listeners), Each(ResultOf(IsKernelLoopback, true)));
  ::kill(train.pid(), SIGINT);
  std::string output;
  EXPECT_EQ(Finish(train, output).code, 130) << output;
}

TEST_F(MpiJobTest, RanksDoNotInheritThePreloadOfMpirun) {
  Process train = Start(TrainCommand(2, 100'000));
  WaitForAStep();
  const std::string agent = TextOf(AgentOfRank(1), "maps");
  EXPECT_THAT(agent, HasSubstr("fault_program"));
  EXPECT_THAT(agent, Not(HasSubstr("libringside_loopback")));
  ::kill(train.pid(), SIGINT);
  std::string output;
  EXPECT_EQ(Finish(train, output).code, 130) << output;
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
  EXPECT_THAT(MappedMemory(), Each(StartsWith(scratch + "/")));
  EXPECT_THAT(MappedMemory(), Contains(HasSubstr("/vader_segment")));
  ::kill(mpirun, SIGKILL);
  std::string output;
  EXPECT_EQ(Finish(train, output).code, 1) << output;
  EXPECT_THAT(output,
              HasSubstr("mpirun (pid " + std::to_string(mpirun) + ") was killed by signal 9"));
  ExpectNothingLeft();
  EXPECT_FALSE(std::filesystem::exists(scratch));
}

TEST_F(MpiJobTest, TheFilesOfAKilledLauncherAreRemoved) {
  std::string scratch;
  {
    Process train = Start(TrainCommand(2, 100'000));
    WaitForAStep();
    scratch = ValueAfter(CommandLineOf(PidIn(bundle(), "mpirun")), "orte_tmpdir_base");
    EXPECT_TRUE(std::filesystem::exists(scratch));
    ::kill(train.pid(), SIGKILL);
    std::string output;
    EXPECT_EQ(Finish(train, output).signal, SIGKILL);
  }
  ExpectNothingLeft();
  EXPECT_NO_THROW(
      WaitUntil("the end of its files", [&] { return !std::filesystem::exists(scratch); }));
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
