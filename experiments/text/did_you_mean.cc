#include "ringside/experiments/text/did_you_mean.h"

#include <algorithm>
#include <vector>

namespace ringside {

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

std::string_view NearestWord(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view nearest;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    // A shortened word ("halving") counts as a typing error, even if many letters are missing.
    const bool prefix = word.size() >= 3 && candidate.starts_with(word);
    // Each letter more or less is one edit. This spares the table for a word of many kilobytes.
    const std::size_t longer = std::max(word.size(), candidate.size());
    if (!prefix && longer - std::min(word.size(), candidate.size()) >= least) continue;
    const std::size_t distance = prefix ? 1 : EditDistance(word, candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string_view nearest = NearestWord(word, candidates);
  if (nearest.empty() || nearest == word) return {};
  return " (did you mean '" + std::string(nearest) + "'?)";
}

}  // namespace ringside
