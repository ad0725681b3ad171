#ifndef RINGSIDE_EXPERIMENTS_MANIFEST_YAML_TEXT_H_
#define RINGSIDE_EXPERIMENTS_MANIFEST_YAML_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ringside {

/// Documents as YAML, with a "---" before each. Texts are quoted, so that none is taken for a
/// number or a switch.
std::string YamlText(const std::vector<nlohmann::ordered_json>& documents);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MANIFEST_YAML_TEXT_H_
