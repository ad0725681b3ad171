// No command sends a terminal what a name, a bundle or a worker has put into a text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/experiments/cli/ringside_process.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

/// Sets the title of a terminal.
constexpr char kTitle[] = "\033]0;x\a";
constexpr char kEscaped[] = "\\x1b]0;x\\x07";

class EscapeSequences : public RingsideProcessTest {
 protected:
  static std::string Hostile(const std::string& word) { return word + kTitle; }
  static std::string Quoted(const std::string& word) { return "'" + word + "'"; }

  /// A bundle whose texts are hostile, too.
  void WriteBundle(const std::string& path) const {
    const fs::path bundle = fs::path(scratch()) / path;
    fs::create_directories(bundle);
    std::ofstream(bundle / "spec.json") << json{{"workers", 2}, {"strategy", "ring"}};
    std::ofstream(bundle / "summary.json") << json{{"schema", "ringside.summary/1"},
                                                   {"run_id", Hostile("id")},
                                                   {"status", Hostile("bad")},
                                                   {"error", Hostile("error")}};
  }
  void WriteDamagedBundle(const std::string& path) const {
    WriteBundle(path);
    std::ofstream(fs::path(scratch()) / path / "summary.json") << "{";
  }
  /// Runs the command. Returns its output, which must have the hostile text in a harmless form.
  std::string Run(const std::string& args) const {
    const ProcessResult result = RunRingside(args + " --color=never");
    std::string all = result.out + result.err;
    EXPECT_THAT(all, HasSubstr(kEscaped)) << args;
    EXPECT_EQ(all.find('\033'), std::string::npos) << args << all;
    EXPECT_EQ(all.find('\a'), std::string::npos) << args << all;
    return all;
  }
};

TEST_F(EscapeSequences, OfADirectoryOfResultsAreMadeHarmless) {
  const std::string study = Hostile("study");
  WriteBundle(study + "/" + Hostile("failed"));
  WriteDamagedBundle(study + "/" + Hostile("damaged"));
  EXPECT_THAT(Run("index " + Quoted(study)), HasSubstr(std::string("1 bad") + kEscaped));
  const std::string report = Run("report " + Quoted(study));
  EXPECT_THAT(report, HasSubstr(std::string("error") + kEscaped));
  EXPECT_THAT(report, HasSubstr(std::string("damaged") + kEscaped));
  Run("compare " + Quoted(study) + " " + Quoted(study));
}

TEST_F(EscapeSequences, OfARunAreMadeHarmless) {
  const std::string run = Hostile("run");
  WriteBundle(run);
  const std::string trained = Run(
      "train --strategy ring --workers 2 --model profile:mobilenet-v2 --steps 4 --timeline --out " +
      Quoted(run));
  EXPECT_THAT(trained, HasSubstr(std::string("which is bad") + kEscaped));
  EXPECT_THAT(trained, HasSubstr(std::string("bundle: run") + kEscaped));
  EXPECT_THAT(Run("demo --check " + Quoted(run)), HasSubstr("transfers"));
  Run("demo --no-open " + Quoted(run));
}

TEST_F(EscapeSequences, OfAMatrixAreMadeHarmless) {
  std::ofstream(scratch() + "/spec.yaml")
      << "name: small\ndefaults: {model: 'profile:mobilenet-v2', steps: 3}\n"
         "axes: {strategy: [none]}\n";
  const json plan = json::parse(RunRingside("matrix spec.yaml --dry-run --json").out);
  WriteBundle("results/small/" + plan["runs"][0]["run_id"].get<std::string>());
  EXPECT_THAT(Run("matrix spec.yaml --dry-run"), HasSubstr(std::string("bad") + kEscaped));
}

}  // namespace
}  // namespace ringside
