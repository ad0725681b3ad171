#ifndef RINGSIDE_EXPERIMENTS_MATRIX_YAML_POSITIONS_H_
#define RINGSIDE_EXPERIMENTS_MATRIX_YAML_POSITIONS_H_

// Private to the .cc files of experiments/ that read YAML.

#include <yaml-cpp/yaml.h>

#include <string>
#include <vector>

#include "ringside/experiments/matrix/setting.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// A YAML file. All its errors read `file:line:column: message`. A value, made once per file.
class YamlFile {
 public:
  /// Throws `ConfigError` when the file cannot be read, and as `ParseYamlDocument`.
  static YamlFile Load(const std::string& path, const Catalog& catalog);
  static YamlFile Parse(const std::string& text, const std::string& path, const Catalog& catalog);

  const YAML::Node& root() const { return root_; }
  const std::string& path() const { return path_; }
  const Catalog& catalog() const { return *catalog_; }

  std::string Where(const Position& position) const;
  [[noreturn]] void Fail(const Position& position, const std::string& message) const;
  [[noreturn]] void Fail(const YAML::Node& node, const std::string& message) const;

  struct Entry {
    std::string key;
    Position position;  ///< Position of the key.
    YAML::Node value;
  };
  /// The entries of a map, in order. Fails on other nodes, on a key that is not a plain word, and
  /// on a repeated key (yaml-cpp accepts both).
  std::vector<Entry> Map(const YAML::Node& node, const std::string& what) const;
  /// The elements of a list. Fails on an empty list.
  std::vector<YAML::Node> List(const YAML::Node& node, const std::string& what) const;
  std::string Scalar(const YAML::Node& node, const std::string& what) const;

 private:
  YamlFile(const YAML::Node& root, std::string path, const Catalog& catalog)
      : root_(root), path_(std::move(path)), catalog_(&catalog) {}

  YAML::Node root_;
  std::string path_;
  const Catalog* catalog_;
};

Position PositionOf(const YAML::Node& node);

/// The key of an entry. Fails with "did you mean" on an unknown key.
const SpecKey& SpecKeyOf(const YamlFile& file, const YamlFile::Entry& entry);
/// Reads a value of a key. Checks its type and units.
Setting ReadSetting(const YamlFile& file, const YamlFile::Entry& entry, const YAML::Node& value);
/// Reads a map of run spec keys.
std::vector<Setting> ReadSettings(const YamlFile& file, const YAML::Node& node,
                                  const std::string& what);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MATRIX_YAML_POSITIONS_H_
