// Steps and bytes, for P = 2^k <= N < 2^(k+1) and R = N - P.
//
// Fold: the even ranks below 2R send all M bytes to the odd rank above them, which adds them. P
// ranks are left and numbered anew. Halving: in step i = 0..k-1 a rank and its partner, whose
// numbers differ in bit i, each keep one half of the range they share, send the other, add what
// comes. Doubling: the same steps backwards; each sends the range it has finished and receives the
// partner's. Unfold: the odd ranks send all M bytes back.
//
// 2k steps and 2(P-1)/P M in each direction; two more steps of M where R > 0.
#include "ring/halving_doubling.h"

#include <bit>

#include "ring/add_into.h"
#include "ring/segments.h"

namespace ringside {
namespace {

/// A rank's part in it.
struct Role {
  int active = 1;   ///< P: ranks that take part in halving and doubling.
  int folded = 0;   ///< R.
  int number = -1;  ///< Among the active ones; -1: folded into `twin`.
  int twin = -1;    ///< The other rank of a fold; -1: none.
};

Role RoleOf(int rank, int world) {
  Role role;
  role.active = static_cast<int>(std::bit_floor(static_cast<unsigned>(world)));
  role.folded = world - role.active;
  if (rank >= 2 * role.folded) {
    role.number = rank - role.folded;
    return role;
  }
  const bool stays = rank % 2 == 1;
  role.number = stays ? rank / 2 : -1;
  role.twin = stays ? rank - 1 : rank + 1;
  return role;
}

int RankOf(int number, const Role& role) {
  return number < role.folded ? 2 * number + 1 : number + role.folded;
}

void SendAll(Links& links, int peer, std::span<const std::byte> data) {
  for (std::size_t i = 0; i < SegmentCount(data.size()); ++i) links.Send(peer, Segment(data, i));
}

void ReceiveAll(Links& links, int peer, std::span<std::byte> data) {
  for (std::size_t i = 0; i < SegmentCount(data.size()); ++i) links.Receive(peer, Segment(data, i));
}

void ReceiveAdd(Links& links, int peer, std::span<std::byte> segment,
                std::span<std::byte> scratch) {
  const auto incoming = scratch.first(segment.size());
  links.Receive(peer, incoming);
  AddInto(segment, incoming);
}

/// Sends `out` while it receives `in`, a few segments ahead. Adds what comes when there is scratch
/// space, replaces otherwise.
void Exchange(Links& links, int peer, std::span<const std::byte> out, std::span<std::byte> in,
              std::span<std::byte> scratch) {
  const std::size_t total = SegmentCount(std::max(out.size(), in.size()));
  const std::size_t ahead = std::min(total, SegmentsAhead(links));
  for (std::size_t k = 0; k < total + ahead; ++k) {
    const auto sent = Segment(out, k);
    if (!sent.empty()) links.Send(peer, sent);
    if (k < ahead) continue;
    const auto segment = Segment(in, k - ahead);
    if (segment.empty()) continue;
    if (scratch.empty()) {
      links.Receive(peer, segment);
    } else {
      ReceiveAdd(links, peer, segment, scratch);
    }
  }
}

struct Halves {
  std::span<std::byte> kept;
  std::span<std::byte> given;
};

Halves Halve(std::span<std::byte> range, bool upper) {
  const std::size_t middle = range.size() / sizeof(float) / 2 * sizeof(float);
  const auto low = range.first(middle);
  const auto high = range.subspan(middle);
  return upper ? Halves{high, low} : Halves{low, high};
}

void HalveAndDouble(Links& links, const Role& role, std::span<std::byte> data,
                    std::span<std::byte> scratch) {
  std::vector<Halves> steps;
  auto range = data;
  for (int bit = 1; bit < role.active; bit *= 2) {
    steps.push_back(Halve(range, (role.number & bit) != 0));
    range = steps.back().kept;
    Exchange(links, RankOf(role.number ^ bit, role), steps.back().given, range, scratch);
  }
  for (int bit = role.active / 2; bit >= 1; bit /= 2) {
    Exchange(links, RankOf(role.number ^ bit, role), steps.back().kept, steps.back().given, {});
    steps.pop_back();
  }
}

}  // namespace

std::vector<int> HalvingDoublingPeers(int rank, int world) {
  const Role role = RoleOf(rank, world);
  std::vector<int> peers;
  if (role.twin >= 0) peers.push_back(role.twin);
  if (role.number < 0) return peers;
  for (int bit = 1; bit < role.active; bit *= 2) peers.push_back(RankOf(role.number ^ bit, role));
  return peers;
}

void HalvingDoublingAllReduce(Links& links, int rank, int world, std::span<float> data,
                              std::span<std::byte> scratch) {
  const Role role = RoleOf(rank, world);
  const auto bytes = std::as_writable_bytes(data);
  if (role.number < 0) {
    SendAll(links, role.twin, bytes);
    ReceiveAll(links, role.twin, bytes);
    return;
  }
  if (role.twin >= 0) {
    for (std::size_t i = 0; i < SegmentCount(bytes.size()); ++i) {
      ReceiveAdd(links, role.twin, Segment(bytes, i), scratch);
    }
  }
  HalveAndDouble(links, role, bytes, scratch);
  if (role.twin >= 0) SendAll(links, role.twin, bytes);
}

}  // namespace ringside
