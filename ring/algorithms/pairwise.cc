#include "ringside/ring/algorithms/pairwise.h"

#include <algorithm>
#include <bit>

namespace ringside {

PowerOfTwoFold PowerOfTwoFold::Of(int rank, int world) {
  PowerOfTwoFold fold;
  fold.active = static_cast<int>(std::bit_floor(static_cast<unsigned>(world)));
  fold.folded = world - fold.active;
  if (rank >= 2 * fold.folded) {
    fold.number = rank - fold.folded;
    return fold;
  }
  const bool stays = rank % 2 == 1;
  fold.number = stays ? rank / 2 : -1;
  fold.fold_partner = stays ? rank - 1 : rank + 1;
  return fold;
}

std::vector<int> FoldPeers(int rank, int world) {
  const PowerOfTwoFold fold = PowerOfTwoFold::Of(rank, world);
  std::vector<int> peers;
  if (fold.fold_partner >= 0) peers.push_back(fold.fold_partner);
  if (fold.number < 0) return peers;
  for (int bit = 1; bit < fold.active; bit *= 2) peers.push_back(fold.Partner(bit));
  return peers;
}

void FoldIn(Links& links, const PowerOfTwoFold& fold, std::span<std::byte> data,
            std::span<std::byte> scratch) {
  if (fold.fold_partner < 0) return;
  for (std::size_t i = 0; i < SegmentCount(data.size()); ++i) {
    if (fold.number < 0) {
      links.Send(fold.fold_partner, Segment(data, i), ChunkPhase::kReduce);
    } else {
      links.ReceiveAdd(fold.fold_partner, Segment(data, i), scratch, ChunkPhase::kReduce);
    }
  }
}

void FoldOut(Links& links, const PowerOfTwoFold& fold, std::span<std::byte> data) {
  if (fold.fold_partner < 0) return;
  for (std::size_t i = 0; i < SegmentCount(data.size()); ++i) {
    if (fold.number < 0) {
      links.Receive(fold.fold_partner, Segment(data, i), ChunkPhase::kBroadcast);
    } else {
      links.Send(fold.fold_partner, Segment(data, i), ChunkPhase::kBroadcast);
    }
  }
}

SumTraffic PairTraffic(int world, std::span<const PairStep> steps) {
  const PowerOfTwoFold fold = PowerOfTwoFold::Of(0, world);
  Phase in;
  Phase out;
  for (int even = 0; even < 2 * fold.folded; even += 2) {
    in.push_back({.from = even, .to = even + 1, .share = 1});
    out.push_back({.from = even + 1, .to = even, .share = 1});
  }
  SumTraffic traffic{in};
  for (const PairStep& step : steps) {
    Phase& phase = traffic.emplace_back();
    for (int number = 0; number < fold.active; ++number) {
      phase.push_back(
          {.from = fold.RankOf(number), .to = fold.RankOf(number ^ step.bit), .share = step.share});
    }
  }
  traffic.push_back(out);
  return traffic;
}

void PairExchange::Run(std::span<const std::byte> out, std::span<std::byte> in,
                       std::span<std::byte> scratch) const {
  const std::size_t total = SegmentCount(std::max(out.size(), in.size()));
  const std::size_t window = SegmentsAhead(links);
  const bool meets = several_peers && total > window;
  for (std::size_t sent = 0, received = 0; received < total; ++received) {
    const std::size_t ahead = meets && received == 0 ? 0 : window;
    for (; sent < std::min(total, received + ahead + 1); ++sent) Send(Segment(out, sent));
    Receive(Segment(in, received), scratch);
  }
}

void PairExchange::Send(std::span<const std::byte> segment) const {
  if (!segment.empty()) links.Send(peer, segment, phase);
}

void PairExchange::Receive(std::span<std::byte> segment, std::span<std::byte> scratch) const {
  if (segment.empty()) return;
  if (scratch.empty()) {
    links.Receive(peer, segment, phase);
  } else {
    links.ReceiveAdd(peer, segment, scratch, phase);
  }
}

}  // namespace ringside
