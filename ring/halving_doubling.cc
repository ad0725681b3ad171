// Steps and bytes, for P = 2^k <= N < 2^(k+1) and R = N - P.
//
// Fold (fold.h): R ranks send all M bytes to their twins. P ranks are left. Halving: in step i =
// 0..k-1 a rank and its partner, whose numbers differ in bit i, each keep one half of the range
// they share, send the other, add what comes. Doubling: the same steps backwards; each sends the
// range it has finished and receives the partner's. Unfold: the odd ranks send all M bytes back.
//
// 2k steps and 2(P-1)/P M in each direction; two more steps of M where R > 0.
#include "ring/halving_doubling.h"

#include <vector>

#include "ring/exchange.h"
#include "ring/fold.h"

namespace ringside {
namespace {

struct Halves {
  std::span<std::byte> kept;
  std::span<std::byte> given;
};

Halves Halve(std::span<std::byte> range, std::size_t element_bytes, bool upper) {
  const std::size_t middle = range.size() / element_bytes / 2 * element_bytes;
  const auto low = range.first(middle);
  const auto high = range.subspan(middle);
  return upper ? Halves{high, low} : Halves{low, high};
}

void HalveAndDouble(Links& links, const Fold& fold, std::span<std::byte> data,
                    std::span<std::byte> scratch) {
  std::vector<Halves> steps;
  auto range = data;
  for (int bit = 1; bit < fold.active; bit *= 2) {
    steps.push_back(Halve(range, links.element_bytes(), (fold.number & bit) != 0));
    range = steps.back().kept;
    Exchange(links, fold.Partner(bit), steps.back().given, range, scratch);
  }
  for (int bit = fold.active / 2; bit >= 1; bit /= 2) {
    Exchange(links, fold.Partner(bit), steps.back().kept, steps.back().given, {});
    steps.pop_back();
  }
}

}  // namespace

void HalvingDoublingAllReduce(Links& links, int rank, int world, std::span<float> data,
                              std::span<std::byte> scratch) {
  const Fold fold = Fold::Of(rank, world);
  const auto bytes = std::as_writable_bytes(data);
  FoldIn(links, fold, bytes, scratch);
  if (fold.number >= 0) HalveAndDouble(links, fold, bytes, scratch);
  FoldOut(links, fold, bytes);
}

}  // namespace ringside
