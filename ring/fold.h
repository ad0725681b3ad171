#ifndef RINGSIDE_RING_FOLD_H_
#define RINGSIDE_RING_FOLD_H_

#include <cstddef>
#include <span>
#include <vector>

#include "ring/links.h"

namespace ringside {

/// How algorithms that pair ranks by the bits of their numbers run on any number of ranks: for
/// P = 2^k <= N < 2^(k+1) and R = N - P, the even ranks below 2R hand their data to the odd rank
/// above them and get the result back. P ranks are left, numbered anew.
struct Fold {
  int active = 1;   ///< P: ranks that take part.
  int folded = 0;   ///< R: ranks that do not.
  int number = -1;  ///< Of this rank among the active ones; -1: it is folded into `twin`.
  int twin = -1;    ///< The other rank of a fold; -1: none.

  static Fold Of(int rank, int world);

  int RankOf(int active_number) const {
    return active_number < folded ? 2 * active_number + 1 : active_number + folded;
  }
  /// The active rank whose number differs in `bit`.
  int Partner(int bit) const { return RankOf(number ^ bit); }
};

/// The twin and all partners of a rank: whom it needs links to.
std::vector<int> FoldPeers(int rank, int world);

/// Before: a folded rank sends all it has, its twin adds that to its own. Costs the two a step of
/// all bytes, in one direction. `scratch` holds at least a segment.
void FoldIn(Links& links, const Fold& fold, std::span<std::byte> data,
            std::span<std::byte> scratch);
/// After: the same backwards.
void FoldOut(Links& links, const Fold& fold, std::span<std::byte> data);

}  // namespace ringside

#endif  // RINGSIDE_RING_FOLD_H_
