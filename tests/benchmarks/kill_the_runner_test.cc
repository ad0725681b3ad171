// Tests benchmarks/kill_the_runner.py with few kills. No run may be lost or run twice when a matrix
// dies, and the script must notice it if one is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/common/temporary_directory.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

struct Outcome {
  int exit_code = -1;
  std::string output;  ///< Both streams.
};

Outcome Kill(const std::string& args, const std::string& variables = "",
             const std::string& build = RINGSIDE_BUILD) {
  Outcome outcome;
  const std::string line =
      variables + " python3 -B " RINGSIDE_KILL " --build '" + build + "' " + args + " 2>&1";
  std::FILE* pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> piece;
  std::size_t count = 0;
  while ((count = std::fread(piece.data(), 1, piece.size(), pipe)) > 0) {
    outcome.output.append(piece.data(), count);
  }
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

TEST(KillTheRunner, LosesAndDoublesNothing) {
  const Outcome outcome = Kill("--kills 10");
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
  const Outcome outcome = Kill("--kills 10", "TMPDIR=" + scratch.path(), scratch.path());
  EXPECT_EQ(outcome.exit_code, 5) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("a finished run was touched again"));
}

TEST(KillTheRunner, RefusesWhatItCannotDo) { EXPECT_EQ(Kill("--kills 0").exit_code, 2); }

}  // namespace
}  // namespace ringside
