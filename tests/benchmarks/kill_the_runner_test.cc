// Tests benchmarks/kill_the_runner.py with few kills. No run may be lost or run twice when a matrix
// dies, and the script must notice it if one is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/common/shell_command.h"
#include "tests/common/temporary_directory.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

ShellOutcome Kill(const std::string& args, const std::string& variables = "",
                  const std::string& build = RINGSIDE_BUILD) {
  return RunShell(variables + " python3 -B " RINGSIDE_KILL " --build '" + build + "' " + args);
}

TEST(KillTheRunner, LosesAndDoublesNothing) {
  const ShellOutcome outcome = Kill("--kills 10");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("10 kills of the runner"));
}

// A program in place of ringside changes a finished run first, and then runs ringside.
TEST(KillTheRunner, NoticesAFinishedRunThatIsTouched) {
  const TemporaryDirectory scratch;
  const std::filesystem::path program = scratch.Path("bin/ringside");
  std::filesystem::create_directories(program.parent_path());
  std::ofstream(program) << "#!/bin/sh\n"
                            "for f in results/killed/*/summary.json; do\n"
                            "  [ -e \"$f\" ] && echo >>\"${f%summary.json}metrics.jsonl\"\n"
                            "done\n"
                            "exec '" RINGSIDE_BUILD "/bin/ringside' \"$@\"\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const ShellOutcome outcome = Kill("--kills 10", "TMPDIR=" + scratch.path(), scratch.path());
  EXPECT_EQ(outcome.exit_code, 5) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("a finished run was touched again"));
}

TEST(KillTheRunner, RefusesWhatItCannotDo) { EXPECT_EQ(Kill("--kills 0").exit_code, 2); }

}  // namespace
}  // namespace ringside
