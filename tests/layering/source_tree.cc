#include "tests/layering/source_tree.h"

#include <array>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

namespace ringside {

namespace fs = std::filesystem;

namespace {

constexpr std::array kTops{"common", "ring", "paramserver", "models", "experiments"};
/// Its headers are made while building. It is no folder of the sources.
constexpr std::string_view kGenerated = "experiments/generated";

/// The header that a line includes; empty for any other line.
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

}  // namespace

Source ReadSource(const std::string& path, const std::string& text) {
  Source source;
  source.path = path;
  source.folder = fs::path(path).parent_path().string();
  source.is_header = path.ends_with(".h");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("// Private to ")) source.is_private = true;
    if (std::string header = IncludedBy(line); !header.empty()) {
      if (line.find('"') != std::string::npos) source.quoted.push_back(header);
      source.includes.push_back(std::move(header));
    }
  }
  return source;
}

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

const std::vector<Source>& Sources() {
  static const std::vector<Source> sources = [] {
    std::vector<Source> found;
    const fs::path root = RINGSIDE_SOURCE_DIR;
    for (const char* top : kTops) {
      for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
        const std::string extension = entry.path().extension();
        if (extension != ".h" && extension != ".cc" && extension != ".cu") continue;
        found.push_back(
            ReadSource(fs::relative(entry.path(), root).string(), ReadFile(entry.path().string())));
      }
    }
    return found;
  }();
  return sources;
}

std::string FolderOfHeader(const std::string& header) {
  if (!header.starts_with(kOurs)) return "";
  std::string folder = fs::path(header.substr(kOurs.size())).parent_path().string();
  return folder == kGenerated ? "" : folder;
}

Graph IncludeGraph(const std::vector<Source>& sources) {
  Graph graph;
  for (const Source& source : sources) {
    Names& included = graph[source.folder];
    for (const std::string& header : source.includes) {
      const std::string folder = FolderOfHeader(header);
      if (!folder.empty() && folder != source.folder) included.insert(folder);
    }
  }
  return graph;
}

}  // namespace ringside
