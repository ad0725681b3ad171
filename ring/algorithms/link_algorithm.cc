#include "ringside/ring/algorithms/link_algorithm.h"

#include <fmt/format.h>

#include <array>

#include "ringside/ring/algorithms/halving_doubling.h"
#include "ringside/ring/algorithms/recursive_doubling.h"
#include "ringside/ring/algorithms/ring_algorithms.h"
#include "ringside/ring/algorithms/tree_all_reduce.h"

namespace ringside {
namespace {

constexpr std::array kTable{
    &kRingAlgorithm,
    &kHalvingDoublingAlgorithm,
    &kRecursiveDoublingAlgorithm,
    &kTreeAlgorithm,
};

/// The algorithms that every codec can use: "ring, halving-doubling or tree".
std::string NamesWithOneSender() {
  std::vector<std::string_view> names;
  for (const LinkAlgorithm* algorithm : kTable) {
    if (algorithm->one_sender) names.push_back(algorithm->name);
  }
  const std::string_view last = names.back();
  names.pop_back();
  return fmt::format("{} or {}", fmt::join(names, ", "), last);
}

}  // namespace

std::span<const LinkAlgorithm* const> LinkAlgorithms() { return kTable; }

std::string WhyNotEncoded(const LinkAlgorithm& algorithm, const CodecOptions& codec) {
  if (algorithm.one_sender || (codec.entry->to_nearest && !UsesErrorFeedback(codec))) return {};
  return fmt::format(
      "in {} several ranks encode the same sum, which leaves the same bits everywhere only where "
      "all round alike: fp16 and bf16 without error feedback; take those, or strategy {}",
      algorithm.name, NamesWithOneSender());
}

}  // namespace ringside
