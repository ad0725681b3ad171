#include "ring/whole_host_collective.h"

#include <algorithm>

namespace ringside {
namespace {

/// The same on every host, wherever the vectors lie.
std::span<float> ShareIn(std::span<float> piece, int shares, int index) {
  const auto cut = [&](int at) {
    return piece.size() * static_cast<std::size_t>(std::min(at, shares)) /
           static_cast<std::size_t>(shares);
  };
  return piece.subspan(cut(index), cut(index + 1) - cut(index));
}

}  // namespace

void WholeHostCollective::Prepare(const FlatSpace& space, const BucketPlan& plan,
                                  std::int64_t first_step) {
  inner_->Prepare(space, plan, first_step);
}

void WholeHostCollective::AllReduceSum(std::span<float> data, const std::string& what) {
  inner_->AllReduceSum(data, what);
}

void WholeHostCollective::Broadcast(std::span<float> data, int root) {
  inner_->Broadcast(data, root);
}

std::vector<std::byte> WholeHostCollective::AllGather(std::span<const std::byte> mine) {
  return inner_->AllGather(mine);
}

std::size_t WholeHostCollective::PieceElements(std::span<const float> data) const {
  return std::max<std::size_t>(data.size(), 1);
}

std::span<float> WholeHostCollective::ReduceToShare(std::span<float> piece, int shares,
                                                    const std::string& what) {
  inner_->AllReduceSum(piece, what);
  return ShareIn(piece, shares, rank_);
}

void WholeHostCollective::GatherShares(std::span<float> piece, int shares, const std::string&) {
  for (int owner = 0; owner < shares; ++owner) {
    inner_->Broadcast(ShareIn(piece, shares, owner), owner);
  }
}

}  // namespace ringside
