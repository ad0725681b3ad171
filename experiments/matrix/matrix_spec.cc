#include "ringside/experiments/matrix/matrix_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "ringside/experiments/matrix/yaml_positions.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/text/did_you_mean.h"
#include "ringside/experiments/text/printable.h"
#include "ringside/experiments/text/units.h"

namespace ringside {
namespace {

constexpr std::size_t kMaxSpecBytes = 1 << 20;
constexpr std::int64_t kMaxRepetitions = 1000;

constexpr std::array<std::string_view, 9> kTopKeys{"name",       "defaults",   "axes",
                                                   "include",    "exclude",    "repetitions",
                                                   "order_seed", "time_limit", "retries"};

// Reads the name. It must be valid as the name of a folder.
std::string ReadName(const YamlFile& file, const YAML::Node& node) {
  std::string name = file.Scalar(node, "name");
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const auto allowed = [&](char c) { return plain(c) || c == '-' || c == '_' || c == '.'; };
  if (name.empty() || !plain(name.front()) || !std::ranges::all_of(name, allowed)) {
    file.Fail(node, fmt::format("name '{}' must be letters, digits, '-', '_' and '.', and start "
                                "with a letter or a digit: it names a folder",
                                Printable(name)));
  }
  return name;
}

std::int64_t ReadInteger(const YamlFile& file, const YamlFile::Entry& entry, std::int64_t least,
                         std::int64_t most) {
  std::int64_t value = 0;
  try {
    value = ParseInteger(file.Scalar(entry.value, entry.key));
  } catch (const ConfigError& error) {
    const std::string reason = error.what();
    // The error of Scalar() already has a position.
    if (reason.starts_with(file.path() + ":")) throw;
    file.Fail(entry.value, entry.key + ": " + reason);
  }
  if (value < least || value > most) {
    file.Fail(entry.value,
              fmt::format("{}: {} is not between {} and {}", entry.key, value, least, most));
  }
  return value;
}

double ReadTimeLimit(const YamlFile& file, const YamlFile::Entry& entry) {
  const std::string text = file.Scalar(entry.value, entry.key);
  double seconds = 0;
  try {
    seconds = ParseSeconds(text);
  } catch (const ConfigError& error) {
    file.Fail(entry.value, entry.key + ": " + error.what());
  }
  if (seconds < 0) file.Fail(entry.value, entry.key + ": must not be negative");
  return seconds;
}

// Throws for keys that the matrix sets itself, or that make all runs write the same file.
void RefuseKeysOfOneRun(const YamlFile& file, const Setting& setting) {
  if (setting.key->name == "repetition") {
    file.Fail(setting.position, "repetition is counted by the matrix; give 'repetitions: N'");
  }
  if (setting.key->name == "timeline-filename") {
    file.Fail(setting.position,
              "timeline-filename is of one run: all runs of a matrix would write the same file; "
              "omit it; 'timeline: on' writes trace.json into every bundle");
  }
}

Axis ReadAxis(const YamlFile& file, const YamlFile::Entry& entry) {
  Axis axis{&SpecKeyOf(file, entry), {}};
  for (const YAML::Node& node : file.List(entry.value, "axis '" + entry.key + "'")) {
    Setting setting = ReadSetting(file, entry, node);
    RefuseKeysOfOneRun(file, setting);
    if (std::ranges::find(axis.values, setting.value, &Setting::value) != axis.values.end()) {
      file.Fail(node, fmt::format("axis '{}' has {} twice", entry.key, setting.value.dump()));
    }
    axis.values.push_back(std::move(setting));
  }
  return axis;
}

std::vector<Axis> ReadAxes(const YamlFile& file, const YAML::Node& node) {
  std::vector<Axis> axes;
  for (const YamlFile::Entry& entry : file.Map(node, "axes")) {
    Axis axis = ReadAxis(file, entry);
    if (std::ranges::find(axes, axis.key, &Axis::key) != axes.end()) {
      file.Fail(entry.position, fmt::format("axis '{}' comes twice, under two names", entry.key));
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

std::vector<std::vector<Setting>> ReadCombinations(const YamlFile& file,
                                                   const YamlFile::Entry& entry) {
  std::vector<std::vector<Setting>> combinations;
  for (const YAML::Node& node : file.List(entry.value, entry.key)) {
    auto settings = ReadSettings(file, node, "an entry of " + entry.key);
    if (settings.empty()) file.Fail(node, "an empty entry of " + entry.key);
    for (const Setting& setting : settings) RefuseKeysOfOneRun(file, setting);
    combinations.push_back(std::move(settings));
  }
  return combinations;
}

void ReadTopEntry(const YamlFile& file, const YamlFile::Entry& entry, MatrixSpec& spec) {
  if (entry.key == "name") {
    spec.name = ReadName(file, entry.value);
  } else if (entry.key == "defaults") {
    spec.defaults = ReadSettings(file, entry.value, "defaults");
    for (const Setting& setting : spec.defaults) RefuseKeysOfOneRun(file, setting);
  } else if (entry.key == "axes") {
    spec.axes = ReadAxes(file, entry.value);
  } else if (entry.key == "include") {
    spec.include = ReadCombinations(file, entry);
  } else if (entry.key == "exclude") {
    spec.exclude = ReadCombinations(file, entry);
  } else if (entry.key == "repetitions") {
    spec.repetitions = static_cast<int>(ReadInteger(file, entry, 1, kMaxRepetitions));
  } else if (entry.key == "order_seed") {
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    spec.order_seed = static_cast<std::uint64_t>(ReadInteger(file, entry, 0, kMost));
  } else if (entry.key == "retries") {
    spec.retries = static_cast<int>(ReadInteger(file, entry, 0, kMaxRetries));
  } else if (entry.key == "time_limit") {
    spec.time_limit_s = ReadTimeLimit(file, entry);
  } else {
    std::string hint = DidYouMean(entry.key, kTopKeys);
    if (file.catalog().FindKey(entry.key) != nullptr) {
      hint = "; keys of a run belong under 'defaults:' or 'axes:'";
    }
    file.Fail(entry.position, fmt::format("unknown key '{}'{}", entry.key, hint));
  }
}

}  // namespace

MatrixSpec ReadMatrixSpec(const std::string& path, const Catalog& catalog) {
  std::string text;
  try {
    text = ReadNamedFile(path, kMaxSpecBytes);
  } catch (const DataError& error) {
    throw ConfigError(error.what());
  }
  return ParseMatrixSpec(text, path, catalog);
}

MatrixSpec ParseMatrixSpec(const std::string& text, const std::string& path,
                           const Catalog& catalog) {
  const YamlFile file = YamlFile::Parse(text, path, catalog);
  MatrixSpec spec;
  spec.catalog = &catalog;
  spec.path = path;
  spec.text = text;
  for (const YamlFile::Entry& entry : file.Map(file.root(), "a matrix spec")) {
    ReadTopEntry(file, entry, spec);
  }
  if (spec.name.empty()) file.Fail(file.root(), "'name' is missing");
  if (spec.axes.empty() && spec.include.empty()) {
    file.Fail(file.root(), "'axes' is missing: a matrix without axes has no runs");
  }
  return spec;
}

}  // namespace ringside
