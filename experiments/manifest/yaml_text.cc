#include "ringside/experiments/manifest/yaml_text.h"

#include <yaml-cpp/yaml.h>

#include <cstdint>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

void Emit(YAML::Emitter& out, const nlohmann::ordered_json& value) {
  if (value.is_object()) {
    if (value.empty()) out << YAML::Flow;
    out << YAML::BeginMap;
    for (const auto& [key, inner] : value.items()) {
      out << YAML::Key << key << YAML::Value;
      Emit(out, inner);
    }
    out << YAML::EndMap;
  } else if (value.is_array()) {
    if (value.empty()) out << YAML::Flow;
    out << YAML::BeginSeq;
    for (const auto& inner : value) Emit(out, inner);
    out << YAML::EndSeq;
  } else if (value.is_string()) {
    out << YAML::DoubleQuoted << value.get<std::string>();
  } else if (value.is_boolean()) {
    out << value.get<bool>();
  } else if (value.is_number_integer()) {
    out << value.get<std::int64_t>();
  } else {
    throw InternalError("a manifest has a value that is neither text, number nor switch");
  }
}

}  // namespace

std::string YamlText(const std::vector<nlohmann::ordered_json>& documents) {
  std::string text;
  for (const auto& document : documents) {
    YAML::Emitter out;
    Emit(out, document);
    text += "---\n" + std::string(out.c_str()) + "\n";
  }
  return text;
}

}  // namespace ringside
