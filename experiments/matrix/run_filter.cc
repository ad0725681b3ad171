#include "ringside/experiments/matrix/run_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/resolve/resolve.h"

namespace ringside {
namespace {

// The position of '=' in a text that starts with a word and '='. Returns npos for other text.
std::size_t EqualsOf(std::string_view text) {
  const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_");
  return end > 0 && end < text.size() && text[end] == '=' ? end : std::string_view::npos;
}

std::vector<std::string> Pieces(std::string_view text) {
  std::vector<std::string> pieces;
  int braces = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    braces += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
    if (text[i] != ',' || braces > 0 || EqualsOf(text.substr(i + 1)) == std::string_view::npos) {
      continue;
    }
    pieces.emplace_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  pieces.emplace_back(text.substr(begin));
  return pieces;
}

std::pair<std::string, std::string> ReadTerm(const std::string& piece, const Catalog& catalog) {
  const std::size_t equals = EqualsOf(piece);
  if (equals == std::string::npos) {
    throw UsageError(
        fmt::format("--only: KEY=VALUE expected, such as strategy=ring, not '{}'", piece));
  }
  std::pair<std::string, std::string> term{piece.substr(0, equals), piece.substr(equals + 1)};
  std::string& text = term.second;
  if (text.size() > 1 && text.front() == '{' && text.back() == '}') {
    text = text.substr(1, text.size() - 2);
  }
  try {
    RunSpec scratch(catalog);
    SetSpecKey(scratch, term.first, term.second);
  } catch (const ConfigError& error) {
    throw UsageError(std::string("--only: ") + error.what());
  }
  return term;
}

bool Has(const RunSpec& run, const std::pair<std::string, std::string>& term) {
  const SpecKey& key = *run.catalog().FindKey(term.first);
  RunSpec other = run;
  SetSpecKey(other, term.first, term.second);
  if (key.get(other) == key.get(run)) return true;
  // Other ways to write the run's value also fit: servers=workers, servers=colocated.
  if (key.name != "servers") return false;
  try {
    return key.get(ResolveForAnotherMachine(other)) == key.get(run);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

RunFilter::RunFilter(const std::vector<std::string>& expressions, const Catalog& catalog) {
  for (const std::string& expression : expressions) {
    auto& terms = expressions_.emplace_back();
    for (const std::string& piece : Pieces(expression)) terms.push_back(ReadTerm(piece, catalog));
  }
}

bool RunFilter::Fits(const RunSpec& run) const {
  const auto fits = [&](const std::vector<Term>& terms) {
    return std::ranges::all_of(terms, [&](const Term& term) { return Has(run, term); });
  };
  return expressions_.empty() || std::ranges::any_of(expressions_, fits);
}

}  // namespace ringside
