#include "ringside/experiments/matrix/yaml_document.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <map>
#include <sstream>
#include <string_view>
#include <vector>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

[[noreturn]] void Fail(const std::string& path, const YAML::Mark& mark,
                       const std::string& message) {
  throw ConfigError(fmt::format("{}:{}:{}: {}", path, mark.line + 1, mark.column + 1, message));
}

/// Follows a parser and stops it at what `ParseYamlDocument` refuses. Builds nothing.
///
/// An alias is as long as what it stands for. So it adds up how long a document would be without
/// aliases: a byte for each node, and the text of scalars.
class Inspector : public YAML::EventHandler {
 public:
  Inspector(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    ++documents_;
    if (documents_ < 2 || StartsDocument(mark)) return;
    // yaml-cpp leaves a character that it cannot place where it is, and finds an empty document
    // before it, again and again.
    Fail(path_, mark, fmt::format("unexpected '{}'", CharacterAt(mark)));
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { Leaf(mark, anchor, 0); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto whole = bytes_of_.find(anchor);
    if (whole == bytes_of_.end()) Fail(path_, mark, "an alias of what it is a part of");
    Leaf(mark, kNoAnchor, whole->second);
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                const std::string& value) override {
    Leaf(mark, anchor, value.size());
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Enter(mark, anchor);
  }
  void OnSequenceEnd() override { Leave(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Enter(mark, anchor);
  }
  void OnMapEnd() override { Leave(); }

 private:
  static constexpr YAML::anchor_t kNoAnchor = 0;

  /// A map or a list that has not ended.
  struct Open {
    YAML::Mark mark;
    YAML::anchor_t anchor;
    std::size_t bytes;
  };

  void OnNode(const YAML::Mark& mark) const {
    if (documents_ < 2) return;
    Fail(path_, mark,
         "a second document; only the first would be read: give each a file of its own");
  }
  void Enter(const YAML::Mark& mark, YAML::anchor_t anchor) {
    OnNode(mark);
    open_.push_back({mark, anchor, 1});
    if (open_.size() <= static_cast<std::size_t>(kMaxYamlDepth)) return;
    Fail(path_, mark, fmt::format("more than {} maps and lists within each other", kMaxYamlDepth));
  }
  void Leave() {
    const Open left = open_.back();
    open_.pop_back();
    Add(left.mark, left.anchor, left.bytes);
  }
  void Leaf(const YAML::Mark& mark, YAML::anchor_t anchor, std::size_t bytes) {
    OnNode(mark);
    Add(mark, anchor, 1 + bytes);
  }
  /// Adds a whole node to the one that it is in.
  void Add(const YAML::Mark& mark, YAML::anchor_t anchor, std::size_t bytes) {
    if (anchor != kNoAnchor) bytes_of_[anchor] = bytes;
    if (open_.empty()) return;
    open_.back().bytes += bytes;
    if (open_.back().bytes <= kMaxYamlBytesWithoutAliases) return;
    Fail(path_, mark,
         fmt::format("longer than {} bytes with what its aliases stand for",
                     kMaxYamlBytesWithoutAliases));
  }
  std::string_view RestAt(const YAML::Mark& mark) const {
    const auto position = static_cast<std::size_t>(mark.pos);
    return position < text_.size() ? text_.substr(position) : std::string_view();
  }
  /// Whether a marker, a directive or the end of the text is there.
  bool StartsDocument(const YAML::Mark& mark) const {
    const std::string_view rest = RestAt(mark);
    return rest.empty() || rest.starts_with("---") || rest.starts_with("...") ||
           rest.starts_with('%');
  }
  char CharacterAt(const YAML::Mark& mark) const { return RestAt(mark).front(); }

  const std::string_view text_;
  const std::string& path_;
  int documents_ = 0;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, std::size_t> bytes_of_;  // of whole nodes, by anchor
};

void Inspect(const std::string& text, const std::string& path) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  Inspector inspector(text, path);
  while (parser.HandleNextDocument(inspector)) {
  }
}

}  // namespace

YAML::Node ParseYamlDocument(const std::string& text, const std::string& path) {
  if (text.size() > kMaxYamlBytes) {
    throw ConfigError(fmt::format("{}: longer than {} bytes", path, kMaxYamlBytes));
  }
  try {
    Inspect(text, path);
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    Fail(path, error.mark, error.msg);
  }
}

}  // namespace ringside
