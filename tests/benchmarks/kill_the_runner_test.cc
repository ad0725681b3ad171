// benchmarks/kill_the_runner.py, with few kills: that no run is lost or doubled when a matrix dies,
// and that the script notices when one is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace ringside {
namespace {

using ::testing::HasSubstr;

struct Outcome {
  int exit_code = -1;
  std::string output;  ///< Both streams.
};

Outcome Kill(const std::string& args) {
  Outcome outcome;
  const std::string line =
      "python3 -B " RINGSIDE_KILL " --build " RINGSIDE_BUILD " " + args + " 2>&1";
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

TEST(KillTheRunner, RefusesWhatItCannotDo) { EXPECT_EQ(Kill("--kills 0").exit_code, 2); }

}  // namespace
}  // namespace ringside
