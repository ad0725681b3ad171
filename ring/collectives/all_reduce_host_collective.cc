#include "ringside/ring/collectives/all_reduce_host_collective.h"

#include <algorithm>

namespace ringside {
namespace {

/// The size of a piece. It is the same on every host, wherever the vectors are.
BucketMessage ChunkIn(const BucketMessage& piece, int chunks, int index) {
  const auto cut = [&](int at) {
    return piece.data.size() * static_cast<std::size_t>(std::min(at, chunks)) /
           static_cast<std::size_t>(chunks);
  };
  return piece.Piece(cut(index), cut(index + 1) - cut(index));
}

}  // namespace

void AllReduceHostCollective::Prepare(const FlatSpace& space, const BucketPlan& plan) {
  inner_->Prepare(space, plan);
}

void AllReduceHostCollective::AllReduceSum(const BucketMessage& message) {
  inner_->AllReduceSum(message);
}

void AllReduceHostCollective::Broadcast(std::span<std::byte> data, int root) {
  inner_->Broadcast(data, root);
}

void AllReduceHostCollective::AllGatherInto(std::span<const std::byte> mine,
                                            std::vector<std::byte>& all) {
  inner_->AllGatherInto(mine, all);
}

std::size_t AllReduceHostCollective::PieceElements(const BucketMessage& message) const {
  return std::max<std::size_t>(message.data.size(), 1);
}

BucketMessage AllReduceHostCollective::ReduceScatter(const BucketMessage& piece, int chunks) {
  inner_->AllReduceSum(piece);
  return ChunkIn(piece, chunks, rank_);
}

void AllReduceHostCollective::AllGatherChunks(const BucketMessage& piece, int chunks) {
  for (int owner = 0; owner < chunks; ++owner) {
    inner_->Broadcast(std::as_writable_bytes(ChunkIn(piece, chunks, owner).data), owner);
  }
}

}  // namespace ringside
