#include "tests/layering/folder_graph.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace ringside {

std::string TopOf(const std::string& path) { return path.substr(0, path.find('/')); }

Names Without(const Names& names, const Names& others) {
  Names left;
  std::ranges::set_difference(names, others, std::inserter(left, left.end()));
  return left;
}

std::vector<std::string> Cycle(const Graph& graph) {
  enum class State { kNew, kOpen, kDone };
  std::map<std::string, State> states;
  std::vector<std::string> way;
  const std::function<bool(const std::string&)> closes = [&](const std::string& node) {
    State& state = states[node];
    if (state == State::kDone) return false;
    way.push_back(node);
    if (state == State::kOpen) return true;
    state = State::kOpen;
    if (const auto next = graph.find(node); next != graph.end()) {
      for (const std::string& other : next->second) {
        if (closes(other)) return true;
      }
    }
    states[node] = State::kDone;
    way.pop_back();
    return false;
  };
  for (const auto& [node, others] : graph) {
    if (closes(node)) return way;
  }
  return {};
}

}  // namespace ringside
