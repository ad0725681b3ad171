#ifndef RINGSIDE_EXPERIMENTS_MATRIX_YAML_POSITIONS_H_
#define RINGSIDE_EXPERIMENTS_MATRIX_YAML_POSITIONS_H_

#include <yaml-cpp/yaml.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/spec_keys.h"

namespace ringside {

/// A place in a spec file, both 1-based.
struct Position {
  int line = 1;
  int column = 1;
};

/// A YAML file whose every complaint is `file:line:column: message`. yaml-cpp stays in the .cc
/// files of the folder that includes this; a value, made once per file.
class YamlFile {
 public:
  /// Throws `ConfigError` when the file cannot be read, is no YAML or more than one document.
  static YamlFile Load(const std::string& path);
  static YamlFile Parse(const std::string& text, const std::string& path);

  const YAML::Node& root() const { return root_; }
  const std::string& path() const { return path_; }

  std::string Where(const Position& position) const;
  [[noreturn]] void Fail(const Position& position, const std::string& message) const;
  [[noreturn]] void Fail(const YAML::Node& node, const std::string& message) const;

  struct Entry {
    std::string key;
    Position position;  ///< Of the key.
    YAML::Node value;
  };
  /// The entries of a map, in order. Fails on anything else, on a key that is no plain word, and on
  /// a key that comes twice (yaml-cpp would take either).
  std::vector<Entry> Map(const YAML::Node& node, const std::string& what) const;
  /// The elements of a list that is not empty.
  std::vector<YAML::Node> List(const YAML::Node& node, const std::string& what) const;
  std::string Scalar(const YAML::Node& node, const std::string& what) const;

 private:
  YamlFile(YAML::Node root, std::string path) : root_(std::move(root)), path_(std::move(path)) {}

  YAML::Node root_;
  std::string path_;
};

Position PositionOf(const YAML::Node& node);

/// One key of a run spec set to a value, and where it says so.
struct Setting {
  const SpecKey* key = nullptr;
  nlohmann::json value;  ///< Typed, in base units.
  Position position;     ///< Of the value.
};

/// The key of an entry; fails on an unknown one with "did you mean".
const SpecKey& SpecKeyOf(const YamlFile& file, const YamlFile::Entry& entry);
/// A value of a key, its type and units checked.
Setting ReadSetting(const YamlFile& file, const YamlFile::Entry& entry, const YAML::Node& value);
/// A map of run spec keys.
std::vector<Setting> ReadSettings(const YamlFile& file, const YAML::Node& node,
                                  const std::string& what);

/// Applies settings that belong together. A batch of one kind unsets the other kind, unless they
/// name both.
void Apply(RunSpec& spec, const std::vector<Setting>& settings);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MATRIX_YAML_POSITIONS_H_
