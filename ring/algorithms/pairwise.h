#ifndef RINGSIDE_RING_ALGORITHMS_PAIRWISE_H_
#define RINGSIDE_RING_ALGORITHMS_PAIRWISE_H_

#include <cstddef>
#include <span>
#include <vector>

#include "ringside/common/measure/sum_traffic.h"
#include "ringside/ring/algorithms/links.h"

namespace ringside {

/// The common parts of algorithms whose ranks work in pairs: the choice of the pairs, and the step
/// of a pair.

/// Pairing ranks by the bits of their numbers needs a power of two. This makes it work for any
/// number of ranks N. For P = 2^k <= N < 2^(k+1) and R = N - P, each even rank below 2R gives its
/// data to the next rank and gets the result back. The other P ranks are active and get new
/// numbers.
struct PowerOfTwoFold {
  int active = 1;   ///< P: number of active ranks.
  int folded = 0;   ///< R: number of other ranks.
  int number = -1;  ///< This rank's number if it is active; -1: it is folded into `fold_partner`.
  int fold_partner = -1;  ///< The other rank of a fold; -1: none.

  static PowerOfTwoFold Of(int rank, int world);

  int RankOf(int active_number) const {
    return active_number < folded ? 2 * active_number + 1 : active_number + folded;
  }
  /// The active rank whose number differs in `bit`.
  int Partner(int bit) const { return RankOf(number ^ bit); }
};

/// Returns the ranks that a rank needs links to: its `fold_partner` and all its partners.
std::vector<int> FoldPeers(int rank, int world);

/// Runs before the algorithm: a folded rank sends all its data, and its `fold_partner` adds it to
/// its own data. Takes one step of all bytes in one direction. `scratch` holds at least a segment.
void FoldIn(Links& links, const PowerOfTwoFold& fold, std::span<std::byte> data,
            std::span<std::byte> scratch);
/// Runs after the algorithm: sends the result back to the folded rank.
void FoldOut(Links& links, const PowerOfTwoFold& fold, std::span<std::byte> data);

/// A step in which each active rank sends `share` of all bytes to the partner whose number differs
/// in `bit`.
struct PairStep {
  int bit = 1;
  double share = 0;
};

/// The traffic of `FoldIn`, then of the steps, then of `FoldOut`.
SumTraffic PairTraffic(int world, std::span<const PairStep> steps);

/// One step of a pair: both send and receive at the same time, in segments.
struct PairExchange {
  Links& links;
  int peer = -1;
  /// The rank exchanges with other peers, too. Then a long message begins with one segment, and the
  /// rest follows when the peer's first segment has come. A peer that is still busy with another
  /// rank would otherwise get a whole window too early, and its links would be shared by two steps.
  /// With 8 ranks that cost a sixth of the time of an all-reduce (results/notes/ring.md).
  bool several_peers = true;
  ChunkPhase phase = ChunkPhase::kExchange;

  /// Sends `out` and receives `in`, a window of segments ahead. The peer does the same. With
  /// scratch space, at least a segment, it adds what it receives to `in`. Without scratch space it
  /// replaces `in`. `out` and `in` are disjoint or the same; a segment is sent before it is
  /// changed.
  void Run(std::span<const std::byte> out, std::span<std::byte> in,
           std::span<std::byte> scratch) const;

 private:
  void Send(std::span<const std::byte> segment) const;
  void Receive(std::span<std::byte> segment, std::span<std::byte> scratch) const;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_ALGORITHMS_PAIRWISE_H_
