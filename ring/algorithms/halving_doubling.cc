// Steps and bytes, for P = 2^k <= N < 2^(k+1) and R = N - P.
//
// PowerOfTwoFold (pairwise.h): R ranks send all M bytes to their fold partners. P ranks are left.
// Halving: in step i = 0..k-1 a rank works with the partner whose number differs in bit i. Each of
// the two keeps one half of the range that they share, sends the other half, and adds what it
// receives. Doubling: the same steps in reverse order; each sends the range that it has finished
// and receives the partner's. Unfold: the odd ranks send all M bytes back.
//
// 2k steps and 2(P-1)/P M in each direction. If R > 0, two more steps of M.
#include "ringside/ring/algorithms/halving_doubling.h"

#include <array>
#include <limits>
#include <vector>

#include "ringside/ring/algorithms/pairwise.h"

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

void HalveAndDouble(Links& links, const PowerOfTwoFold& fold, std::span<std::byte> data,
                    std::span<std::byte> scratch) {
  std::array<Halves, std::numeric_limits<int>::digits> steps;  // at most one per bit of an int
  std::size_t count = 0;
  auto range = data;
  const auto exchange = [&](int bit, ChunkPhase phase) {
    return PairExchange{links, fold.Partner(bit), fold.active > 2, phase};
  };
  for (int bit = 1; bit < fold.active; bit *= 2) {
    const Halves& step = steps[count++] =
        Halve(range, links.element_bytes(), (fold.number & bit) != 0);
    range = step.kept;
    exchange(bit, ChunkPhase::kReduceScatter).Run(step.given, range, scratch);
  }
  for (int bit = fold.active / 2; bit >= 1; bit /= 2) {
    const Halves& step = steps[--count];
    exchange(bit, ChunkPhase::kAllGather).Run(step.kept, step.given, {});
  }
}

void HalvingDoublingAllReduce(Links& links, int rank, int world, std::span<float> data,
                              std::span<std::byte> scratch) {
  const PowerOfTwoFold fold = PowerOfTwoFold::Of(rank, world);
  const auto bytes = std::as_writable_bytes(data);
  FoldIn(links, fold, bytes, scratch);
  if (fold.number >= 0) HalveAndDouble(links, fold, bytes, scratch);
  FoldOut(links, fold, bytes);
}

/// Halving sends 1/2, 1/4, ... of all bytes. Doubling sends the same in reverse order.
SumTraffic HalvingDoublingTraffic(int world) {
  const int active = PowerOfTwoFold::Of(0, world).active;
  std::vector<PairStep> steps;
  for (int bit = 1; bit < active; bit *= 2) steps.push_back({.bit = bit, .share = 0.5 / bit});
  for (int bit = active / 2; bit >= 1; bit /= 2) steps.push_back({.bit = bit, .share = 0.5 / bit});
  return PairTraffic(world, steps);
}

}  // namespace

constinit const LinkAlgorithm kHalvingDoublingAlgorithm{
    .name = "halving-doubling",
    .summary = "recursive halving and doubling over Gloo's TCP transport",
    .all_reduce = HalvingDoublingAllReduce,
    .peers = FoldPeers,
    .bound = HalvingDoublingCost,
    .traffic = HalvingDoublingTraffic,
};

}  // namespace ringside
