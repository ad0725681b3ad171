#include "ringside/experiments/text/words.h"

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

constexpr std::string_view kBlanks = " \t\n";
// Characters that a shell takes as they are.
constexpr std::string_view kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";

bool IsBlank(char c) { return kBlanks.find(c) != std::string_view::npos; }

/// Reads one line, character by character.
class WordReader {
 public:
  explicit WordReader(std::string_view line) : line_(line) {}

  std::vector<std::string> Read() {
    while (at_ < line_.size()) Take(line_[at_]);
    EndWord();
    return std::move(words_);
  }

 private:
  void Take(char c) {
    if (IsBlank(c)) {
      EndWord();
      ++at_;
    } else if (c == '\'' || c == '"') {
      TakeQuoted(c);
    } else {
      Add(c == '\\' ? Escaped() : c);
      ++at_;
    }
  }

  void TakeQuoted(char quote) {
    in_word_ = true;
    for (++at_; at_ < line_.size() && line_[at_] != quote; ++at_) {
      const bool escapes = quote == '"' && line_[at_] == '\\' && at_ + 1 < line_.size() &&
                           (line_[at_ + 1] == '"' || line_[at_ + 1] == '\\');
      Add(escapes ? Escaped() : line_[at_]);
    }
    if (at_ == line_.size()) {
      throw ConfigError(std::string("a quote ") + quote + " does not end");
    }
    ++at_;
  }

  /// The character after the backslash, which becomes the current one.
  char Escaped() {
    if (++at_ == line_.size()) throw ConfigError("a backslash is the last character");
    return line_[at_];
  }

  void Add(char c) {
    in_word_ = true;
    word_ += c;
  }

  void EndWord() {
    if (in_word_) words_.push_back(word_);
    in_word_ = false;
    word_.clear();
  }

  const std::string_view line_;
  std::size_t at_ = 0;
  std::string word_;
  bool in_word_ = false;
  std::vector<std::string> words_;
};

std::string Quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(kPlain) == std::string::npos;
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace

std::vector<std::string> SplitWords(std::string_view line) { return WordReader(line).Read(); }

std::string JoinWords(std::span<const std::string> words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += Quoted(word);
  }
  return line;
}

}  // namespace ringside
