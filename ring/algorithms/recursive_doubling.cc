// Steps and bytes, for P = 2^k <= N < 2^(k+1) and R = N - P.
//
// PowerOfTwoFold (pairwise.h): R ranks send all M bytes to their fold partners. In step i = 0..k-1
// a rank exchanges everything with the partner whose number differs in bit i, and adds. Then
// unfold.
//
// k steps of M in each direction. If R > 0, two more steps.
//
// After step i, all ranks whose numbers agree above bit i have the same bits: partners add the same
// two vectors, and the order of two terms does not change an IEEE sum.
#include "ringside/ring/algorithms/recursive_doubling.h"

#include "ringside/ring/algorithms/pairwise.h"

namespace ringside {
namespace {

void RecursiveDoublingAllReduce(Links& links, int rank, int world, std::span<float> data,
                                std::span<std::byte> scratch) {
  const PowerOfTwoFold fold = PowerOfTwoFold::Of(rank, world);
  const auto bytes = std::as_writable_bytes(data);
  FoldIn(links, fold, bytes, scratch);
  if (fold.number >= 0) {
    for (int bit = 1; bit < fold.active; bit *= 2) {
      PairExchange{links, fold.Partner(bit), fold.active > 2}.Run(bytes, bytes, scratch);
    }
  }
  FoldOut(links, fold, bytes);
}

SumTraffic RecursiveDoublingTraffic(int world) {
  const int active = PowerOfTwoFold::Of(0, world).active;
  std::vector<PairStep> steps;
  for (int bit = 1; bit < active; bit *= 2) steps.push_back({.bit = bit, .share = 1});
  return PairTraffic(world, steps);
}

}  // namespace

constinit const LinkAlgorithm kRecursiveDoublingAlgorithm{
    .name = "recursive-doubling",
    .summary = "recursive doubling over Gloo's TCP transport: fewest steps, for small messages",
    .all_reduce = RecursiveDoublingAllReduce,
    .peers = FoldPeers,
    .one_sender = false,
    .bound = RecursiveDoublingCost,
    .traffic = RecursiveDoublingTraffic,
};

}  // namespace ringside
