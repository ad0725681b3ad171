#include "ring/fold.h"

#include <bit>

#include "ring/segments.h"

namespace ringside {

Fold Fold::Of(int rank, int world) {
  Fold fold;
  fold.active = static_cast<int>(std::bit_floor(static_cast<unsigned>(world)));
  fold.folded = world - fold.active;
  if (rank >= 2 * fold.folded) {
    fold.number = rank - fold.folded;
    return fold;
  }
  const bool stays = rank % 2 == 1;
  fold.number = stays ? rank / 2 : -1;
  fold.twin = stays ? rank - 1 : rank + 1;
  return fold;
}

std::vector<int> FoldPeers(int rank, int world) {
  const Fold fold = Fold::Of(rank, world);
  std::vector<int> peers;
  if (fold.twin >= 0) peers.push_back(fold.twin);
  if (fold.number < 0) return peers;
  for (int bit = 1; bit < fold.active; bit *= 2) peers.push_back(fold.Partner(bit));
  return peers;
}

void FoldIn(Links& links, const Fold& fold, std::span<std::byte> data,
            std::span<std::byte> scratch) {
  if (fold.twin < 0) return;
  for (std::size_t i = 0; i < SegmentCount(data.size()); ++i) {
    if (fold.number < 0) {
      links.Send(fold.twin, Segment(data, i));
    } else {
      links.ReceiveAdd(fold.twin, Segment(data, i), scratch);
    }
  }
}

void FoldOut(Links& links, const Fold& fold, std::span<std::byte> data) {
  if (fold.twin < 0) return;
  for (std::size_t i = 0; i < SegmentCount(data.size()); ++i) {
    if (fold.number < 0) {
      links.Receive(fold.twin, Segment(data, i));
    } else {
      links.Send(fold.twin, Segment(data, i));
    }
  }
}

}  // namespace ringside
