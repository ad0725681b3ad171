// N ranks, M bytes in vectors that all have attached to: a barrier; every rank sums its share over
// all vectors and writes it to all of them; a barrier. N M bytes are read and N M written, in
// total.
//
// Spans elsewhere pass through slots, one a rank: copied in, a barrier, shares summed, a barrier,
// shares copied out. Small ones are summed whole by every rank, which saves the second barrier.
// There are two sets of slots that take turns: a rank that writes to a set again has passed the
// barrier of the operation in between, so nobody still reads what it overwrites.
#include "ring/shm_collective.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/errors.h"
#include "ring/share.h"
#include "ring/sum_vectors.h"

namespace ringside {
namespace {

/// Of spans that are staged. Above, it is faster to sum in shares, at the price of a barrier.
constexpr std::size_t kSmallBytes = 16 << 10;
/// What is staged at a time; the same on every host, so that their pieces match.
constexpr std::size_t kSlotFloats = std::size_t{64} << 10;
constexpr std::size_t kSets = 2;
constexpr Operation kAllGather{"all-gather among", "the workers of a host"};

/// `data`, at most `elements` at a time.
std::vector<std::span<float>> Pieces(std::span<float> data, std::size_t elements) {
  std::vector<std::span<float>> pieces;
  for (std::size_t begin = 0; begin < data.size(); begin += elements) {
    pieces.push_back(data.subspan(begin, std::min(elements, data.size() - begin)));
  }
  return pieces;
}

void Copy(const float* from, std::span<float> to) { std::copy_n(from, to.size(), to.data()); }

}  // namespace

HostRanks AllOnOneHost(const World& world) {
  if (world.local_workers != world.workers) {
    throw ConfigError(std::to_string(world.local_workers) + " of " + std::to_string(world.workers) +
                      " workers are on this host, but all must share its memory; across hosts take "
                      "strategy hierarchical");
  }
  HostRanks host{.rank = world.rank, .workers = {}};
  host.workers.resize(static_cast<std::size_t>(world.workers));
  std::iota(host.workers.begin(), host.workers.end(), 0);
  return host;
}

ShmCollective::ShmCollective(const HostRanks& host, Store& store, const CommOptions& comm,
                             std::string prefix, const ShmPatience& patience)
    : rank_(host.rank), size_(static_cast<int>(host.workers.size())) {
  if (size_ == 1) return;
  group_ = std::make_unique<ShmGroup>(
      ShmGroupOptions{.rank = rank_,
                      .workers = host.workers,
                      .store = store,
                      .comm = comm,
                      .prefix = std::move(prefix),
                      .scratch_bytes = kSets * host.workers.size() * kSlotFloats * sizeof(float),
                      .patience = patience});
  vectors_.resize(host.workers.size());
}

void ShmCollective::Prepare(const FlatSpace& space, const BucketPlan&, std::int64_t) {
  spaces_ = ShmSpaces(*this, rank_, size_, space);
}

template <typename Steps>
void ShmCollective::Run(const Steps& steps) {
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  if (group_ == nullptr) return;
  try {
    steps();
  } catch (const CommError&) {
    failure_ = std::current_exception();
    group_->Leave();
    throw;
  }
}

void ShmCollective::AllReduceSum(std::span<float> data, const std::string& what) {
  const Operation operation{"all-reduce of", what};
  Run([&] {
    if (spaces_.Hold(data)) {
      SumInPlace(data, operation);
    } else if (data.size_bytes() <= kSmallBytes) {
      SumSmall(data, operation);
    } else {
      for (const auto piece : Pieces(data, kSlotFloats)) {
        Reduce(piece, size_, operation);
        Gather(piece, size_, operation);
      }
    }
  });
}

void ShmCollective::SumSmall(std::span<float> data, const Operation& what) {
  std::ranges::copy(data, NextSlot());
  group_->Meet(what);
  float* const mine = data.data();
  SumVectors(Slots(), std::span(&mine, 1), data.size());
  CountTraffic(0, data.size());
}

void ShmCollective::SumInPlace(std::span<float> data, const Operation& what) {
  const Share share = ShareOf(data, size_, rank_);
  const auto vectors = Attached(data.subspan(share.begin, share.size()));
  group_->Meet(what);
  SumVectors(vectors, vectors, share.size());
  group_->Meet(what);
  CountTraffic(share.size(), share.size());
}

std::size_t ShmCollective::PieceElements(std::span<const float> data) const {
  return spaces_.Hold(data) ? data.size() : kSlotFloats;
}

std::span<float> ShmCollective::ReduceToShare(std::span<float> piece, int shares,
                                              const std::string& what) {
  std::span<float> share = piece;
  Run([&] { share = Reduce(piece, shares, {"reduce-scatter of", what}); });
  return share;
}

void ShmCollective::GatherShares(std::span<float> piece, int shares, const std::string& what) {
  Run([&] { Gather(piece, shares, {"all-gather of", what}); });
}

std::span<float> ShmCollective::Reduce(std::span<float> piece, int shares, const Operation& what) {
  if (!spaces_.Hold(piece)) {
    float* const slot = NextSlot();
    std::ranges::copy(piece, slot);
    piece = {slot, piece.size()};
  }
  const Share share = ShareOf(piece, shares, rank_);
  const auto mine = piece.subspan(share.begin, share.size());
  const auto vectors = spaces_.Hold(piece) ? Attached(mine) : Slots(share.begin);
  float* const sum = mine.data();
  group_->Meet(what);
  SumVectors(vectors, std::span(&sum, 1), share.size());
  CountTraffic(0, share.size());
  return mine;
}

void ShmCollective::Gather(std::span<float> piece, int shares, const Operation& what) {
  if (!spaces_.Hold(piece)) return GatherStaged(piece, shares, what);
  const Share share = ShareOf(piece, shares, rank_);
  const auto mine = piece.subspan(share.begin, share.size());
  for (float* theirs : Attached(mine)) {
    if (theirs != mine.data()) std::ranges::copy(mine, theirs);
  }
  group_->Meet(what);
  CountTraffic(share.size(), 0);
}

void ShmCollective::GatherStaged(std::span<float> piece, int shares, const Operation& what) {
  group_->Meet(what);
  const auto slots = Slots();
  for (int owner = 0; owner < shares; ++owner) {
    const float* slot = slots[static_cast<std::size_t>(owner)];
    const Share share = ShareOf({slot, piece.size()}, shares, owner);
    std::copy_n(slot + share.begin, share.size(), piece.data() + share.begin);
  }
}

void ShmCollective::Broadcast(std::span<float> data, int root) {
  Run([&] {
    const std::string from = group_->NameOf(root);
    const Operation operation{"broadcast from", from};
    if (spaces_.Hold(data)) return BroadcastInPlace(data, root, operation);
    for (const auto piece : Pieces(data, kSlotFloats)) {
      float* const slot = NextSlot();
      if (rank_ == root) std::ranges::copy(piece, slot);
      group_->Meet(operation);
      if (rank_ != root) Copy(Slots()[static_cast<std::size_t>(root)], piece);
    }
  });
}

void ShmCollective::BroadcastInPlace(std::span<float> data, int root, const Operation& what) {
  group_->Meet(what);
  if (rank_ != root) Copy(Attached(data)[static_cast<std::size_t>(root)], data);
  group_->Meet(what);
}

std::vector<std::byte> ShmCollective::AllGather(std::span<const std::byte> mine) {
  std::vector<std::byte> all(mine.size() * static_cast<std::size_t>(size_));
  if (group_ == nullptr) std::ranges::copy(mine, all.begin());
  Run([&] {
    std::size_t begin = 0;
    do {  // a barrier, if nothing else
      const auto part =
          mine.subspan(begin, std::min(kSlotFloats * sizeof(float), mine.size() - begin));
      std::ranges::copy(part, reinterpret_cast<std::byte*>(NextSlot()));
      group_->Meet(kAllGather);
      auto block = all.begin() + static_cast<std::ptrdiff_t>(begin);
      for (const float* slot : Slots()) {
        std::copy_n(reinterpret_cast<const std::byte*>(slot), part.size(), block);
        block += static_cast<std::ptrdiff_t>(mine.size());
      }
      begin += part.size();
    } while (begin < mine.size());
  });
  return all;
}

std::span<float* const> ShmCollective::Attached(std::span<const float> data) {
  spaces_.Locate(data, vectors_);
  return vectors_;
}

float* ShmCollective::NextSlot() {
  turn_ = (turn_ + 1) % kSets;
  return Slots()[static_cast<std::size_t>(rank_)];
}

std::span<float* const> ShmCollective::Slots(std::size_t begin) {
  float* slot = reinterpret_cast<float*>(group_->scratch()) + turn_ * vectors_.size() * kSlotFloats;
  for (float*& vector : vectors_) {
    vector = slot + begin;
    slot += kSlotFloats;
  }
  return vectors_;
}

void ShmCollective::CountTraffic(std::size_t written, std::size_t read) {
  const std::size_t others = sizeof(float) * static_cast<std::size_t>(size_ - 1);
  traffic_.sent += written * others;
  traffic_.received += read * others;
}

}  // namespace ringside
