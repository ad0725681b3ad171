// N ranks have mapped vectors of M bytes of all ranks. A barrier; every rank sums its chunk over
// all vectors and writes it to all of them; a barrier. Together the ranks read N M bytes and write
// N M.
//
// All other data are staged in slots, one per rank: copy in, a barrier, sum chunks, a barrier, copy
// chunks out. Every rank sums small spans whole, which saves the second barrier. Operations use two
// sets of slots in turn: a rank that writes to a set again has passed the barrier of the operation
// in between, so no rank still reads what it overwrites.
#include "ringside/ring/shm/shm_collective.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/ring/shm/sum_vectors.h"

namespace ringside {
namespace {

/// The largest span in slots that every rank sums whole. Above it, chunks are faster in spite of
/// the barrier.
constexpr std::size_t kSmallBytes = 16 << 10;
/// How many bytes go through a slot at a time. It is the same on every host, so that pieces match.
constexpr std::size_t kSlotFloats = std::size_t{64} << 10;
constexpr std::size_t kSets = 2;
constexpr std::size_t kSlotBytes = kSlotFloats * sizeof(float);
constexpr Operation kAllGather{"all-gather among the workers of a host"};

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
                             std::string prefix, const ShmWaitPolicy& patience)
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

void ShmCollective::Prepare(const FlatSpace& space, const BucketPlan&) {
  spaces_ = ShmSpaces(*this, rank_, size_, space);
}

template <typename Steps>
void ShmCollective::Run(const Steps& steps) {
  failure_.Check();
  if (group_ == nullptr) return;
  failure_.Guard([&] {
    try {
      steps();
    } catch (...) {
      group_->Leave();
      throw;
    }
  });
}

void ShmCollective::AllReduceSum(const BucketMessage& message) {
  const Operation operation("all-reduce of", message);
  Run([&] {
    if (spaces_.Contains(message)) {
      SumInPlace(message, operation);
    } else if (message.data.size_bytes() <= kSmallBytes) {
      SumSmall(message.data, operation);
    } else {
      SumStaged(message, operation);
    }
  });
}

void ShmCollective::SumStaged(const BucketMessage& message, const Operation& what) {
  const std::size_t elements = message.data.size();
  for (std::size_t begin = 0; begin < elements; begin += kSlotFloats) {
    const BucketMessage piece = message.Piece(begin, std::min(kSlotFloats, elements - begin));
    Reduce(piece, size_, what);
    Gather(piece, size_, what);
  }
}

void ShmCollective::SumSmall(std::span<float> data, const Operation& what) {
  std::ranges::copy(data, NextSlot());
  group_->Barrier(what);
  float* const mine = data.data();
  SumVectors(Slots(), std::span(&mine, 1), data.size());
  CountTraffic(0, data.size());
}

void ShmCollective::SumInPlace(const BucketMessage& message, const Operation& what) {
  const CacheAlignedChunk chunk = ChunkOf(message.data, size_, rank_);
  const auto vectors = Attached(message.Piece(chunk.begin, chunk.size()));
  group_->Barrier(what);
  SumVectors(vectors, vectors, chunk.size());
  group_->Barrier(what);
  CountTraffic(chunk.size(), chunk.size());
}

std::size_t ShmCollective::PieceElements(const BucketMessage& message) const {
  return spaces_.Contains(message) ? message.data.size() : kSlotFloats;
}

BucketMessage ShmCollective::ReduceScatter(const BucketMessage& piece, int chunks) {
  BucketMessage chunk = piece;
  Run([&] { chunk = Reduce(piece, chunks, {"reduce-scatter of", piece}); });
  return chunk;
}

void ShmCollective::AllGatherChunks(const BucketMessage& piece, int chunks) {
  Run([&] { Gather(piece, chunks, {"all-gather of", piece}); });
}

BucketMessage ShmCollective::Reduce(const BucketMessage& piece, int chunks, const Operation& what) {
  const bool attached = spaces_.Contains(piece);
  BucketMessage terms = piece;
  if (!attached) {
    float* const slot = NextSlot();
    std::ranges::copy(piece.data, slot);
    terms.data = {slot, piece.data.size()};
    terms.vector = FlatVector::kNone;
  }
  const CacheAlignedChunk chunk = ChunkOf(terms.data, chunks, rank_);
  const BucketMessage mine = terms.Piece(chunk.begin, chunk.size());
  const auto vectors = attached ? Attached(mine) : Slots(chunk.begin);
  float* const sum = mine.data.data();
  group_->Barrier(what);
  SumVectors(vectors, std::span(&sum, 1), chunk.size());
  CountTraffic(0, chunk.size());
  return mine;
}

void ShmCollective::Gather(const BucketMessage& piece, int chunks, const Operation& what) {
  if (!spaces_.Contains(piece)) return GatherStaged(piece.data, chunks, what);
  const CacheAlignedChunk chunk = ChunkOf(piece.data, chunks, rank_);
  const BucketMessage mine = piece.Piece(chunk.begin, chunk.size());
  for (float* theirs : Attached(mine)) {
    if (theirs != mine.data.data()) std::ranges::copy(mine.data, theirs);
  }
  group_->Barrier(what);
  CountTraffic(chunk.size(), 0);
}

void ShmCollective::GatherStaged(std::span<float> piece, int chunks, const Operation& what) {
  group_->Barrier(what);
  const auto slots = Slots();
  for (int owner = 0; owner < chunks; ++owner) {
    const float* slot = slots[static_cast<std::size_t>(owner)];
    const CacheAlignedChunk chunk = ChunkOf({slot, piece.size()}, chunks, owner);
    std::copy_n(slot + chunk.begin, chunk.size(), piece.data() + chunk.begin);
  }
}

void ShmCollective::Broadcast(std::span<std::byte> data, int root) {
  Run([&] {
    BroadcastStaged(data, root, Operation::WithWorker("broadcast from", group_->WorkerOf(root)));
  });
}

void ShmCollective::BroadcastStaged(std::span<std::byte> data, int root, const Operation& what) {
  for (std::size_t begin = 0; begin < data.size(); begin += kSlotBytes) {
    const auto piece = data.subspan(begin, std::min(kSlotBytes, data.size() - begin));
    float* const slot = NextSlot();
    if (rank_ == root) std::memcpy(slot, piece.data(), piece.size());
    group_->Barrier(what);
    if (rank_ == root) continue;
    std::memcpy(piece.data(), Slots()[static_cast<std::size_t>(root)], piece.size());
  }
}

void ShmCollective::AllGatherInto(std::span<const std::byte> mine, std::vector<std::byte>& all) {
  all.resize(mine.size() * static_cast<std::size_t>(size_));
  if (group_ == nullptr) std::ranges::copy(mine, all.begin());
  Run([&] {
    std::size_t begin = 0;
    do {  // at least once, because it is also a barrier
      const auto part = mine.subspan(begin, std::min(kSlotBytes, mine.size() - begin));
      std::ranges::copy(part, reinterpret_cast<std::byte*>(NextSlot()));
      group_->Barrier(kAllGather);
      auto block = all.begin() + static_cast<std::ptrdiff_t>(begin);
      for (const float* slot : Slots()) {
        std::copy_n(reinterpret_cast<const std::byte*>(slot), part.size(), block);
        block += static_cast<std::ptrdiff_t>(mine.size());
      }
      begin += part.size();
    } while (begin < mine.size());
  });
}

std::span<float* const> ShmCollective::Attached(const BucketMessage& message) {
  spaces_.Locate(message.vector, message.offset, vectors_);
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
