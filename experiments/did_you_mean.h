#ifndef RINGSIDE_EXPERIMENTS_DID_YOU_MEAN_H_
#define RINGSIDE_EXPERIMENTS_DID_YOU_MEAN_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ringside {

/// Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`: the optimal string
/// alignment distance.
std::size_t EditDistance(std::string_view a, std::string_view b);

/// The candidate nearest to `word`, when it is near enough to be a slip of the keyboard; empty
/// otherwise. Ties go to the earlier one.
std::string_view NearestWord(std::string_view word, std::span<const std::string_view> candidates);

/// " (did you mean 'ring'?)" or nothing: appended to a message about an unknown word.
std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_DID_YOU_MEAN_H_
