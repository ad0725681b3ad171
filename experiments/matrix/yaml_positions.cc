#include "ringside/experiments/matrix/yaml_positions.h"

#include <fmt/format.h>

#include <algorithm>

#include "ringside/experiments/matrix/yaml_document.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/text/did_you_mean.h"
#include "ringside/experiments/text/words.h"

namespace ringside {

Position PositionOf(const YAML::Node& node) {
  const YAML::Mark mark = node.Mark();
  if (mark.is_null()) return {};
  return {mark.line + 1, mark.column + 1};
}

YamlFile YamlFile::Load(const std::string& path, const Catalog& catalog) {
  try {
    return Parse(ReadNamedFile(path, kMaxYamlBytes), path, catalog);
  } catch (const DataError& error) {
    throw ConfigError(error.what());
  }
}

YamlFile YamlFile::Parse(const std::string& text, const std::string& path, const Catalog& catalog) {
  return {ParseYamlDocument(text, path), path, catalog};
}

std::string YamlFile::Where(const Position& position) const {
  return fmt::format("{}:{}:{}", path_, position.line, position.column);
}

void YamlFile::Fail(const Position& position, const std::string& message) const {
  throw ConfigError(Where(position) + ": " + message);
}

void YamlFile::Fail(const YAML::Node& node, const std::string& message) const {
  Fail(PositionOf(node), message);
}

std::vector<YamlFile::Entry> YamlFile::Map(const YAML::Node& node, const std::string& what) const {
  if (!node.IsMap()) Fail(node, what + " must be a map of keys and values");
  std::vector<Entry> entries;
  for (const auto& pair : node) {
    if (!pair.first.IsScalar()) Fail(pair.first, "a key must be a plain word");
    Entry entry{pair.first.Scalar(), PositionOf(pair.first), pair.second};
    const auto earlier = std::ranges::find(entries, entry.key, &Entry::key);
    if (earlier != entries.end()) {
      Fail(entry.position, fmt::format("key '{}' comes twice; it is already in line {}", entry.key,
                                       earlier->position.line));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<YAML::Node> YamlFile::List(const YAML::Node& node, const std::string& what) const {
  if (!node.IsSequence()) Fail(node, what + " must be a list");
  if (node.size() == 0) Fail(node, what + " is empty");
  return {node.begin(), node.end()};
}

std::string YamlFile::Scalar(const YAML::Node& node, const std::string& what) const {
  if (!node.IsScalar()) Fail(node, what + " must be a single value");
  return node.Scalar();
}

const SpecKey& SpecKeyOf(const YamlFile& file, const YamlFile::Entry& entry) {
  const SpecKey* key = file.catalog().FindKey(entry.key);
  if (key == nullptr) {
    file.Fail(entry.position, fmt::format("unknown key '{}'{}", entry.key,
                                          DidYouMean(entry.key, file.catalog().KeyNames())));
  }
  return *key;
}

namespace {

// The text of a list in the form of a flag: "hidden: [128, 64]" is "128,64".
std::string ListText(const YamlFile& file, const YAML::Node& list, const std::string& what,
                     char separator) {
  std::string text;
  for (const auto& element : list) {
    const std::string word = file.Scalar(element, "an element of " + what);
    if (word.find_first_of(",:=") != std::string::npos) {
      file.Fail(element, fmt::format("an element of {} has no ',', ':' or '='", what));
    }
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

// The flag's text of a list of words: "program: [python3, train.py]" is "python3 train.py".
std::string WordsText(const YamlFile& file, const YAML::Node& list, const std::string& what) {
  std::vector<std::string> words;
  for (const auto& element : list) words.push_back(file.Scalar(element, "a word of " + what));
  return JoinWords(words);
}

// The flag's text of a map: {hosts: 4, rates: [1Gbps, 2Gbps]} is "hosts=4,rates=1Gbps:2Gbps".
std::string MapText(const YamlFile& file, const YAML::Node& map, const std::string& what) {
  std::string text;
  for (const YamlFile::Entry& entry : file.Map(map, what)) {
    const bool list = entry.value.IsSequence();
    const std::string value =
        list ? ListText(file, entry.value, entry.key, ':') : file.Scalar(entry.value, entry.key);
    if (value.empty() || value.find_first_of(",=") != std::string::npos) {
      file.Fail(entry.value, fmt::format("{}: a value without ',' and '=' expected", entry.key));
    }
    if (!text.empty()) text += ',';
    text += entry.key + '=' + value;
  }
  if (text.empty()) file.Fail(map, what + " is empty");
  return text;
}

std::string SettingText(const YamlFile& file, const SpecKey& key, const YamlFile::Entry& entry,
                        const YAML::Node& value) {
  if (value.IsSequence() && key.takes_words) return WordsText(file, value, entry.key);
  if (value.IsSequence()) return ListText(file, value, entry.key, ',');
  if (value.IsMap() && key.takes_map) return MapText(file, value, entry.key);
  return file.Scalar(value, entry.key);
}

}  // namespace

Setting ReadSetting(const YamlFile& file, const YamlFile::Entry& entry, const YAML::Node& value) {
  const SpecKey& key = SpecKeyOf(file, entry);
  const std::string text = SettingText(file, key, entry, value);
  Setting setting{&key, nullptr, PositionOf(value)};
  try {
    RunSpec scratch(file.catalog());
    SetSpecKey(scratch, entry.key, text);
    setting.value = key.get(scratch);
  } catch (const SpecKeyError& error) {
    file.Fail(value, error.what());
  }
  return setting;
}

namespace {

// Whether the entry is the batch of the kind that was not given. Files that Ringside writes
// (spec.json, output of --print-config) have both kinds; the one not given is 0.
bool IsTheOtherBatch(const YamlFile& file, const YamlFile::Entry& entry,
                     const std::vector<YamlFile::Entry>& all) {
  const auto is = [&](const YamlFile::Entry& e, std::string_view name) {
    const SpecKey* key = file.catalog().FindKey(e.key);
    return key != nullptr && key->name == name;
  };
  const auto is_zero = [](const YamlFile::Entry& e) {
    return e.value.IsScalar() && e.value.Scalar() == "0";
  };
  const auto gives = [&](std::string_view name) {
    return std::ranges::any_of(
        all, [&](const YamlFile::Entry& e) { return is(e, name) && !is_zero(e); });
  };
  return is_zero(entry) && ((is(entry, "global-batch") && gives("batch-per-worker")) ||
                            (is(entry, "batch-per-worker") && gives("global-batch")));
}

}  // namespace

std::vector<Setting> ReadSettings(const YamlFile& file, const YAML::Node& node,
                                  const std::string& what) {
  std::vector<Setting> settings;
  const std::vector<YamlFile::Entry> entries = file.Map(node, what);
  for (const YamlFile::Entry& entry : entries) {
    if (IsTheOtherBatch(file, entry, entries)) continue;
    Setting setting = ReadSetting(file, entry, entry.value);
    if (std::ranges::any_of(settings, [&](const Setting& s) { return s.key == setting.key; })) {
      file.Fail(entry.position, fmt::format("key '{}' comes twice, under two names", entry.key));
    }
    settings.push_back(std::move(setting));
  }
  return settings;
}

}  // namespace ringside
