#include "ringside/experiments/report/render/held_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ringside {

bool ShowsTestLoss(const StudyTable& table) {
  return std::ranges::none_of(table.cells,
                              [](const StudyCell& cell) { return cell.accuracy.has_value(); });
}

std::vector<std::string> MetricNames(const StudyTable& table) {
  std::set<std::string> names;
  for (const StudyCell& cell : table.cells) {
    for (const auto& [name, value] : cell.metrics) names.insert(name);
  }
  return {names.begin(), names.end()};
}

std::string MetricText(const StudyCell& cell, const std::string& name, const char* missing) {
  const auto found = cell.metrics.find(name);
  return found == cell.metrics.end() ? missing : fmt::format("{:.4g}", found->second);
}

}  // namespace ringside
