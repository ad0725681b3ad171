#ifndef RINGSIDE_TESTS_LAYERING_FOLDER_GRAPH_H_
#define RINGSIDE_TESTS_LAYERING_FOLDER_GRAPH_H_

#include <map>
#include <set>
#include <string>
#include <vector>

namespace ringside {

using Names = std::set<std::string>;
/// Names and what each of them points to.
using Graph = std::map<std::string, Names>;

/// The first folder of a path from the top.
std::string TopOf(const std::string& path);

/// Those of `names` that are not among `others`.
Names Without(const Names& names, const Names& others);

/// A cycle from a folder back to itself; empty when there is none.
std::vector<std::string> Cycle(const Graph& graph);

}  // namespace ringside

#endif  // RINGSIDE_TESTS_LAYERING_FOLDER_GRAPH_H_
