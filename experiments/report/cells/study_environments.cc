#include "ringside/experiments/report/cells/study_environments.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace ringside {
namespace {

using nlohmann::json;
using Values = std::map<std::string, std::string>;

// Nested objects as "libraries.gloo".
void Flatten(const json& object, const std::string& prefix, Values& values) {
  for (const auto& [key, value] : object.items()) {
    // The address of a job differs in every run.
    if (key == "schema" || key == "RINGSIDE_ADDRESS") continue;
    if (value.is_object()) {
      Flatten(value, prefix + key + '.', values);
    } else {
      values[prefix + key] = value.is_string() ? value.get<std::string>() : value.dump();
    }
  }
}

}  // namespace

std::size_t IndexOfEnvironment(const json& record, std::vector<StudyEnvironment>& environments) {
  Values values;
  if (record.is_object()) Flatten(record, "", values);
  auto found = std::ranges::find(environments, values, &StudyEnvironment::values);
  if (found == environments.end()) {
    found = environments.insert(environments.end(), {std::move(values), 0});
  }
  ++found->runs;
  return static_cast<std::size_t>(found - environments.begin());
}

std::vector<std::string> EnvironmentDifferences(const std::vector<StudyEnvironment>& environments) {
  std::set<std::string> keys;
  for (const StudyEnvironment& environment : environments) {
    for (const auto& [key, value] : environment.values) keys.insert(key);
  }
  std::vector<std::string> differences;
  for (const std::string& key : keys) {
    std::set<std::string> found;
    for (const StudyEnvironment& environment : environments) {
      const auto value = environment.values.find(key);
      found.insert(value == environment.values.end() ? "" : value->second);
    }
    if (found.size() > 1) differences.push_back(key);
  }
  return differences;
}

}  // namespace ringside
