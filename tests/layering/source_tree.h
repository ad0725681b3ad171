#ifndef RINGSIDE_TESTS_LAYERING_SOURCE_TREE_H_
#define RINGSIDE_TESTS_LAYERING_SOURCE_TREE_H_

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/layering/folder_graph.h"

namespace ringside {

/// What includes of our headers begin with.
inline constexpr std::string_view kOurs = "ringside/";

/// What the rules need to know of a source file.
struct Source {
  std::string path;    ///< From the top.
  std::string folder;  ///< Its directory.
  std::vector<std::string> includes;
  std::vector<std::string> quoted;  ///< Those of `includes` that stand in quotation marks.
  bool is_header = false;
  bool is_private = false;  ///< Says "// Private to ..." on a line.
};

/// Reads a source file's text. `path` is from the top.
Source ReadSource(const std::string& path, const std::string& text);

std::string ReadFile(const std::filesystem::path& path);

/// All source files of the five components.
const std::vector<Source>& Sources();

/// The folder of ours that a header lies in; empty for any other.
std::string FolderOfHeader(const std::string& header);

/// The folders that each folder includes, without itself.
Graph IncludeGraph(const std::vector<Source>& sources);

}  // namespace ringside

#endif  // RINGSIDE_TESTS_LAYERING_SOURCE_TREE_H_
