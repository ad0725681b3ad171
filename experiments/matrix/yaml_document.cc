#include "ringside/experiments/matrix/yaml_document.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <sstream>
#include <string_view>

#include "ringside/common/core/errors.h"

namespace ringside {
namespace {

[[noreturn]] void Fail(const std::string& path, const YAML::Mark& mark,
                       const std::string& message) {
  throw ConfigError(fmt::format("{}:{}:{}: {}", path, mark.line + 1, mark.column + 1, message));
}

/// Follows a parser and stops it at what `ParseYamlDocument` refuses. Builds nothing.
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
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { OnNode(mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { OnNode(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string&) override {
    OnNode(mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    Enter(mark);
  }
  void OnSequenceEnd() override { --depth_; }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    Enter(mark);
  }
  void OnMapEnd() override { --depth_; }

 private:
  void OnNode(const YAML::Mark& mark) const {
    if (documents_ < 2) return;
    Fail(path_, mark,
         "a second document; only the first would be read: give each a file of its own");
  }
  void Enter(const YAML::Mark& mark) {
    OnNode(mark);
    if (++depth_ <= kMaxYamlDepth) return;
    Fail(path_, mark, fmt::format("more than {} maps and lists within each other", kMaxYamlDepth));
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
  int depth_ = 0;
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
