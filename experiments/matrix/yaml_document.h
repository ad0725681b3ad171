#ifndef RINGSIDE_EXPERIMENTS_MATRIX_YAML_DOCUMENT_H_
#define RINGSIDE_EXPERIMENTS_MATRIX_YAML_DOCUMENT_H_

// Private to the .cc files of experiments/ that read YAML.

#include <yaml-cpp/yaml.h>

#include <string>

namespace ringside {

/// The longest YAML file that is read.
constexpr std::size_t kMaxYamlBytes = std::size_t{1} << 20;
/// The longest that it may be if every alias (*a) is replaced by what it stands for (&a). Otherwise
/// a short file could stand for one that no memory holds.
constexpr std::size_t kMaxYamlBytesWithoutAliases = 4 * kMaxYamlBytes;
/// The most maps and lists within each other.
constexpr int kMaxYamlDepth = 32;

/// Parses a text that is one YAML document. `path` is for messages alone. Throws `ConfigError` with
/// "path:line:column: " when the text is no YAML, more than one document, too long or too deep, or
/// when an alias is a part of what it stands for.
YAML::Node ParseYamlDocument(const std::string& text, const std::string& path);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MATRIX_YAML_DOCUMENT_H_
