// Tests that every folder of ours has a README, that links of pages lead to existing files, and
// that the folders of tests/ mirror those of the code.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ringside {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = RINGSIDE_SOURCE_DIR;

// results/ is left out: runs write there.
constexpr std::array kFolders{"benchmarks", "cmake",       "common", "docs",    "experiments",
                              "models",     "paramserver", "ring",   "scripts", "tests"};

std::vector<fs::path> FilesOf(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const bool made_by_python = entry.path().parent_path().filename() == "__pycache__";
    if (entry.is_regular_file() && !made_by_python) files.push_back(entry.path());
  }
  return files;
}

// Files that a line links to, each without its "#section". Links to the web are not followed.
std::vector<std::string> LinksInLine(const std::string& line) {
  static constexpr std::string_view kOpening = "](";
  std::vector<std::string> links;
  for (std::size_t at = line.find(kOpening); at != line.npos; at = line.find(kOpening, at)) {
    at += kOpening.size();
    const std::size_t end = line.find(')', at);
    if (end == line.npos) break;
    std::string target = line.substr(at, end - at);
    target = target.substr(0, target.find('#'));
    if (!target.empty() && target.find("://") == target.npos) links.push_back(std::move(target));
  }
  return links;
}

std::vector<std::string> LinksIn(const fs::path& page) {
  std::vector<std::string> links;
  std::ifstream file(page);
  bool code = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) code = !code;
    if (code) continue;
    for (std::string& link : LinksInLine(line)) links.push_back(std::move(link));
  }
  return links;
}

TEST(Pages, EveryFolderHasAReadme) {
  std::set<fs::path> folders;
  for (const char* folder : kFolders) {
    for (const fs::path& file : FilesOf(kSource / folder)) folders.insert(file.parent_path());
  }
  folders.erase(kSource / "docs/images");
  const auto holds_inputs = [](const fs::path& folder) {
    return folder.parent_path() == kSource / "tests/fuzz/corpus";
  };
  std::erase_if(folders, holds_inputs);
  EXPECT_GT(folders.size(), 40U);
  for (const fs::path& folder : folders) EXPECT_TRUE(fs::exists(folder / "README.md")) << folder;
}

TEST(Pages, LinkToWhatIsThere) {
  std::vector<fs::path> pages{kSource / "README.md", kSource / "CONTRIBUTING.md",
                              kSource / "CHANGELOG.md"};
  for (const char* folder : kFolders) {
    for (const fs::path& file : FilesOf(kSource / folder)) {
      if (file.extension() == ".md") pages.push_back(file);
    }
  }
  std::size_t links = 0;
  for (const fs::path& page : pages) {
    for (const std::string& target : LinksIn(page)) {
      ++links;
      EXPECT_TRUE(fs::exists(page.parent_path() / target)) << page << ": " << target;
    }
  }
  EXPECT_GT(links, 50U);
}

TEST(Pages, FoldersOfTestsMirrorThoseOfTheCode) {
  std::size_t folders = 0;
  for (const char* top : {"common", "experiments", "models", "paramserver", "ring"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kSource / "tests" / top)) {
      if (!entry.is_directory() || entry.path().filename() == "__pycache__") continue;
      const fs::path mirrored = fs::relative(entry.path(), kSource / "tests");
      EXPECT_TRUE(fs::is_directory(kSource / mirrored)) << "tests/" << mirrored.string();
      ++folders;
    }
  }
  EXPECT_GT(folders, 30U);
}

}  // namespace
}  // namespace ringside
