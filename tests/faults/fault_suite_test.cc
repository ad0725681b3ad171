// Runs fault_suite.py: each fault once, under a ring and under parameter servers, and some faults
// under strategies of another kind. The suite itself has more strategies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/common/shell_command.h"
#include "tests/common/temporary_directory.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

ShellOutcome RunSuite(const std::string& args, const std::string& build = RINGSIDE_BUILD) {
  // In memory: an operation of 3 s does not outlast every pause of a disk.
  return RunShell(
      "TMPDIR=$(mktemp -d -p /dev/shm faults.XXXXXX) && export TMPDIR && trap 'rm -rf \"$TMPDIR\"' "
      "EXIT && "
      "python3 -B " RINGSIDE_FAULT_SUITE " --build '" +
      build + "' " + args);
}

/// Several jobs at a time: they mostly wait, for leases above all.
ShellOutcome RunTogether(const std::string& strategies, const std::string& more = "") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const int jobs = 4;
#else
  const int jobs = 8;
#endif
  std::string args = "--slack 3 --jobs " + std::to_string(jobs);
  args.append(" --strategies ").append(strategies).append(more);
  return RunSuite(args);
}

class FaultSuite : public ::testing::TestWithParam<const char*> {};

TEST_P(FaultSuite, EachFaultIsFoundInTimeAndLosesNothing) {
  const ShellOutcome outcome = RunTogether(GetParam());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
}

INSTANTIATE_TEST_SUITE_P(Strategies, FaultSuite, ::testing::Values("ring", "ps-sync"),
                         [](const auto& run) {
                           std::string name = run.param;
                           std::erase(name, '-');
                           return name;
                         });

// mpirun starts the processes of mpi. What counted is not looked at under diloco.
TEST(OtherStrategies, FaultsOfProcessesAreFoundUnderStrategiesOfAnotherKind) {
  const ShellOutcome outcome = RunTogether(
      "mpi,diloco",
      " --only worker-killed,worker-exits,worker-frozen,worker-out-of-memory,disk-full");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
}

TEST(FaultSuiteItself, NoticesAProgramThatDoesNothing) {
  const TemporaryDirectory build;
  std::filesystem::create_directory(build.Path("bin"));
  const std::string program = build.Path("bin/fault_program");
  std::ofstream(program) << "#!/bin/sh\nexit 0\n";
  ASSERT_EQ(::chmod(program.c_str(), 0700), 0);
  const ShellOutcome outcome = RunSuite("--only worker-killed --strategies ring", build.path());
  EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("WRONG: the fault did not happen"));
  EXPECT_THAT(outcome.output, HasSubstr("WRONG: nothing was found"));
  EXPECT_THAT(outcome.output, HasSubstr("WRONG: there are no parameters"));
}

TEST(FaultSuiteItself, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(RunSuite("--only earthquake").output, HasSubstr("unknown scenario earthquake"));
  EXPECT_THAT(RunSuite("--strategies mesh").output, HasSubstr("unknown strategy mesh"));
  EXPECT_THAT(RunSuite("", "/nonexistent").output, HasSubstr("build the tests first"));
}

}  // namespace
}  // namespace ringside
