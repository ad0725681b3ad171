#include "ringside/experiments/system/environment/slurm_tasks.h"

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

// Slurm itself allows 65,536 nodes.
constexpr std::size_t kMaxNodes = 1 << 16;

/// Nodes with the same number of tasks.
struct TaskGroup {
  int tasks = 0;
  int nodes = 1;
};

/// Removes a number from the front of `text`; 0 if there is none.
int TakeNumber(std::string_view& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// Removes `start` from the front of `text`, if it is there.
bool Take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

/// Removes "2(x3)" or "1", with the comma before the next group, from the front of `text`.
std::optional<TaskGroup> TakeGroup(std::string_view& text) {
  TaskGroup group{.tasks = TakeNumber(text)};
  if (Take(text, "(x")) {
    group.nodes = TakeNumber(text);
    if (!Take(text, ")")) return std::nullopt;
  }
  const bool ends = text.empty() || (Take(text, ",") && !text.empty());
  if (group.tasks < 1 || group.nodes < 1 || !ends) return std::nullopt;
  return group;
}

}  // namespace

std::vector<int> ParseTasksPerNode(const char* name, const std::string& list) {
  std::vector<int> tasks;
  std::string_view rest = list;
  do {
    const std::optional<TaskGroup> group = TakeGroup(rest);
    if (!group || static_cast<std::size_t>(group->nodes) > kMaxNodes - tasks.size()) {
      throw ConfigError(std::string(name) + "=" + list +
                        ": expected numbers of tasks, as in 2(x3),1");
    }
    tasks.insert(tasks.end(), static_cast<std::size_t>(group->nodes), group->tasks);
  } while (!rest.empty());
  return tasks;
}

}  // namespace ringside
