// Who may include whom. The rules are DESIGN's: common stands alone, the families and the models do
// not know each other, nobody below knows experiments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::map<std::string, std::set<std::string>>& Allowed() {
  static const std::map<std::string, std::set<std::string>> allowed{
      {"common", {"common"}},
      {"ring", {"common", "ring"}},
      {"paramserver", {"common", "paramserver"}},
      {"models", {"common", "models"}},
      {"experiments", {"common", "ring", "paramserver", "models", "experiments"}}};
  return allowed;
}

std::string FirstPart(const std::string& path) { return path.substr(0, path.find('/')); }

// The standard library's and the C library's headers have no folder; POSIX has sys/, net/ and such.
bool IsStandardOrPosix(const std::string& header) {
  static const std::set<std::string> folders{"sys", "arpa", "net", "netinet"};
  static const std::set<std::string> vendor_files{"mpi.h", "nccl.h", "cuda.h", "cuda_runtime.h"};
  if (header.find('/') != std::string::npos) return folders.contains(FirstPart(header));
  return !vendor_files.contains(header);
}

// The header that a line includes; empty for any other line.
std::string IncludedBy(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (word == "#") {
    words >> word;
    word = "#" + word;
  }
  if (!word.starts_with("#include")) return "";
  const std::size_t begin = line.find_first_of("\"<");
  const std::size_t end = line.find_first_of("\">", begin + 1);
  if (begin == std::string::npos || end == std::string::npos) return "";
  return line.substr(begin + 1, end - begin - 1);
}

// What `content`, the text of a file in `folder`, includes and must not.
std::vector<std::string> Violations(const std::string& folder, const std::string& content) {
  const std::set<std::string>& allowed = Allowed().at(folder);
  std::vector<std::string> violations;
  std::istringstream lines(content);
  for (std::string line; std::getline(lines, line);) {
    const std::string header = IncludedBy(line);
    if (header.empty()) continue;
    const std::string top = FirstPart(header);
    const bool ours = Allowed().contains(top) || top == "tests";
    const bool vendor = !ours && !IsStandardOrPosix(header);
    if ((ours && !allowed.contains(top)) || (vendor && folder == "common")) {
      violations.push_back(header);
    }
  }
  return violations;
}

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class LayeringTest : public ::testing::TestWithParam<std::string> {};

TEST_P(LayeringTest, IncludesOnlyWhatItMay) {
  int files = 0;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(RINGSIDE_SOURCE_DIR) / GetParam())) {
    const std::string extension = entry.path().extension();
    if (extension != ".h" && extension != ".cc" && extension != ".cu") continue;
    ++files;
    EXPECT_THAT(Violations(GetParam(), ReadFile(entry.path())), IsEmpty()) << entry.path();
  }
  EXPECT_GT(files, 0) << "nothing was looked at";
}

// common/deadline.h: a stepped wall clock never fires a deadline.
TEST_P(LayeringTest, DeadlinesAreMonotonic) {
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(RINGSIDE_SOURCE_DIR) / GetParam())) {
    const std::string extension = entry.path().extension();
    if (extension != ".h" && extension != ".cc") continue;
    EXPECT_THAT(ReadFile(entry.path()), Not(HasSubstr("system_clock"))) << entry.path();
  }
}

INSTANTIATE_TEST_SUITE_P(Folders, LayeringTest,
                         ::testing::Values("common", "ring", "paramserver", "models"),
                         [](const auto& folder) { return folder.param; });

TEST(LayeringRulesTest, ForbiddenIncludesAreSeen) {
  EXPECT_THAT(Violations("common", "#include \"ring/collective.h\"\n"),
              ElementsAre("ring/collective.h"));
  EXPECT_THAT(Violations("common", "int a;\n  # include <grpcpp/grpcpp.h>\n#include <mpi.h>"),
              ElementsAre("grpcpp/grpcpp.h", "mpi.h"));
  EXPECT_THAT(Violations("common", "#include <fmt/format.h>\n"), ElementsAre("fmt/format.h"));
  EXPECT_THAT(Violations("ring", "#include \"paramserver/shard.h\"\n"),
              ElementsAre("paramserver/shard.h"));
  EXPECT_THAT(Violations("models", "#include \"experiments/run_spec.h\"\n#include \"tests/a.h\"\n"),
              ElementsAre("experiments/run_spec.h", "tests/a.h"));
}

TEST(LayeringRulesTest, AllowedIncludesPass) {
  EXPECT_THAT(Violations("common",
                         "#include <sys/mman.h>\n#include <vector>\n"
                         "#include \"common/store.h\"\n// #include \"ring/a.h\" no\n"),
              IsEmpty());
  EXPECT_THAT(Violations("ring", "#include <gloo/context.h>\n#include \"ring/a.h\"\n"), IsEmpty());
}

}  // namespace
}  // namespace ringside
