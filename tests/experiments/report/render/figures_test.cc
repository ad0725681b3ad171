#include "ringside/experiments/report/render/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/files/files.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/report/finish_process.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

class FiguresTest : public ::testing::Test {
 protected:
  std::string Python(const std::string& name, const std::string& body) const {
    const std::string path = scratch_.path() + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  std::string Report(const json& cells) const {
    const std::string path = scratch_.path() + "/report.json";
    std::ofstream(path) << json{{"cells", cells}, {"varied", {"model"}}};
    return path;
  }

  const TemporaryDirectory scratch_;
};

TEST_F(FiguresTest, WithoutMatplotlibSaysWhichPythonLacksIt) {
  const std::string bare = Python("bare", "echo bare has no matplotlib; exit 4");
  try {
    WriteFigures("report.json", scratch_.path(), {bare});
    FAIL() << "it must throw";
  } catch (const MissingBackendError& error) {
    EXPECT_THAT(error.what(), HasSubstr("python3-matplotlib"));
    EXPECT_THAT(error.what(), HasSubstr("bare has no matplotlib"));
  }
  EXPECT_THROW(WriteFigures("report.json", scratch_.path(), {}), MissingBackendError);
}

TEST_F(FiguresTest, TakesTheFirstPythonThatHasIt) {
  const std::string bare = Python("bare", "exit 4");
  const std::string good = Python("good", "touch $4/a.svg; echo $4/a.svg");
  EXPECT_THAT(WriteFigures("report.json", scratch_.path(), {bare, good}),
              ::testing::ElementsAre(scratch_.path() + "/a.svg"));
}

TEST_F(FiguresTest, AWarningIsNoFigure) {
  const std::string python =
      Python("warns", "echo 'findfont: no such font'; touch $4/a.svg; echo $4/a.svg; echo /bin/sh");
  ::testing::internal::CaptureStderr();
  const std::vector<std::string> files = WriteFigures("report.json", scratch_.path(), {python});
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(files, ::testing::ElementsAre(scratch_.path() + "/a.svg"));
  EXPECT_EQ(said, "findfont: no such font\n/bin/sh\n");
}

TEST_F(FiguresTest, AFailureIsNotAMissingBackend) {
  const std::string broken = Python("broken", "echo went wrong; exit 1");
  try {
    WriteFigures("report.json", scratch_.path(), {broken});
    FAIL() << "it must throw";
  } catch (const MissingBackendError& error) {
    FAIL() << error.what();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("went wrong"));
  }
}

TEST_F(FiguresTest, AreDrawnWithTheirFonts) {
  const json cell{{"strategy", "$_<b>"},
                  {"workers", 2},
                  {"servers", 0},
                  {"colocated", false},
                  {"transport", ""},
                  {"varied", {{"model", "../$x"}}},
                  {"conditions", {{"model", "model ../$x"}}},
                  {"runs", 5},
                  {"limited", 5},
                  {"takes_part", false},
                  {"dilation_factor", 10.0},
                  {"bound_ms", 10},
                  {"bound_ratio", 1.05},
                  {"achievable_ms", 10.2},
                  {"intervals", {{"bound_ratio", {{"low", 1.02}, {"high", 1.08}}}}}};
  const std::string out = scratch_.path() + "/figures";
  json more = cell;
  more["workers"] = 3;
  const std::vector<std::string> files = WriteFigures(Report(json::array({cell, more})), out);
  EXPECT_EQ(files.size(), 6U) << "PNG, SVG and PDF, one and two columns wide";
  for (const std::string& file : files) {
    EXPECT_EQ(fs::path(file).parent_path(), out);
    const std::string content = ReadFile(file, 10 << 20);
    if (file.ends_with(".png")) {
      EXPECT_THAT(content, ::testing::StartsWith("\x89PNG"));
    } else if (file.ends_with(".pdf")) {
      EXPECT_THAT(content, HasSubstr("/FontFile2"));
    } else {
      EXPECT_THAT(content, HasSubstr("<svg"));
      EXPECT_THAT(content, ::testing::Not(HasSubstr("font-family")));
    }
  }
}

// figures_check.py has the checks.
TEST(FigurePictures, TellEveryConfigurationApart) {
  const FinishedProcess checked = FinishProcess(
      {RINGSIDE_SYSTEM_PYTHON, "-B", RINGSIDE_FIGURES_CHECK, RINGSIDE_FIGURE_SCRIPTS});
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
  EXPECT_THAT(checked.output, HasSubstr("ok   the legend is within the figure"));
}

}  // namespace
}  // namespace ringside
