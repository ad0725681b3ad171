#ifndef RINGSIDE_EXPERIMENTS_TEXT_DID_YOU_MEAN_H_
#define RINGSIDE_EXPERIMENTS_TEXT_DID_YOU_MEAN_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ringside {

/// The number of edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`: the
/// optimal string alignment distance.
std::size_t EditDistance(std::string_view a, std::string_view b);

/// The candidate nearest to `word`, if it is near enough to be a typing error; otherwise empty. A
/// tie goes to the earlier candidate.
std::string_view NearestWord(std::string_view word, std::span<const std::string_view> candidates);

/// Returns " (did you mean 'ring'?)" or nothing, to append to a message about an unknown word. It
/// never suggests the word itself.
std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_TEXT_DID_YOU_MEAN_H_
