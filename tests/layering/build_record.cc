#include "tests/layering/build_record.h"

#include <array>
#include <sstream>

#include "tests/layering/source_tree.h"

namespace ringside {

BuildRecord ParseBuildRecord(const std::string& text) {
  BuildRecord build;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream rest(line);
    std::string kind;
    std::string name;
    rest >> kind >> name;
    std::array<Names, 3> columns;
    // The word ":" separates them.
    int column = -1;
    for (std::string word; rest >> word;) {
      if (word == ":") {
        ++column;
      } else {
        columns.at(column).insert(word);
      }
    }
    if (kind == "left-out") build.left_out.insert(name);
    if (kind == "component") build.components[name] = columns[0];
    if (kind == "folder") {
      build.folders[name] = columns[0];
      build.packages[name] = columns[1];
      build.made[name] = columns[2];
    }
  }
  return build;
}

const BuildRecord& TheBuild() {
  static const BuildRecord build = ParseBuildRecord(ReadFile(RINGSIDE_FOLDERS));
  return build;
}

}  // namespace ringside
