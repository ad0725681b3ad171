// Steps and bytes, H hosts of G workers, M bytes: within a host 2 M per worker through its memory;
// over a host's link 2(H-1)/H M in each direction, in G rings of 2(H-1) steps that run at once.
#include "ring/hierarchical_collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "ring/suspects.h"

namespace ringside {
namespace {

std::string NameOf(int worker) { return fmt::format("worker {}", worker); }

std::span<std::byte> BytesOf(std::vector<float>& floats) {
  return std::as_writable_bytes(std::span(floats));
}

}  // namespace

HierarchicalCollective::HierarchicalCollective(HierarchyParts parts, int rank, Store& store,
                                               std::string prefix)
    : map_(std::move(parts.map)),
      rank_(rank),
      inner_(std::move(parts.inner)),
      outer_(std::move(parts.outer)),
      store_(store),
      prefix_(std::move(prefix)) {}

void HierarchicalCollective::Prepare(const FlatSpace& space, const BucketPlan& plan,
                                     std::int64_t first_step) {
  Run([&] {
    inner_->Prepare(space, plan, first_step);
    if (outer_ != nullptr) outer_->Prepare(space, plan, first_step);
  });
}

void HierarchicalCollective::AllReduceSum(std::span<float> data, const std::string& what) {
  Run([&] {
    const int shares = map_.smallest();
    const std::size_t piece_elements = inner_->PieceElements(data);
    for (std::size_t begin = 0; begin < data.size(); begin += piece_elements) {
      const auto piece = data.subspan(begin, std::min(piece_elements, data.size() - begin));
      const auto share = inner_->ReduceToShare(piece, shares, what);
      // A share is empty on all ranks of a lane or on none.
      if (!share.empty()) Outside([&] { outer_->AllReduceSum(share, what); });
      inner_->GatherShares(piece, shares, what);
    }
  });
}

void HierarchicalCollective::Broadcast(std::span<float> data, int root) {
  Run([&] {
    const auto has_root = [&](const auto& workers) {
      return std::ranges::count(workers, root) > 0;
    };
    const auto at = std::ranges::find_if(map_.hosts, has_root);
    const int host = static_cast<int>(at - map_.hosts.begin());
    const int rank = static_cast<int>(std::ranges::find(*at, root) - at->begin());
    if (host == map_.host) inner_->Broadcast(data, rank);
    if (map_.here.rank == 0) Outside([&] { outer_->Broadcast(data, host); });
    if (host != map_.host) inner_->Broadcast(data, 0);
  });
}

std::vector<std::byte> HierarchicalCollective::AllGather(std::span<const std::byte> mine) {
  std::vector<std::byte> all(mine.size() * [&] {
    std::size_t workers = 0;
    for (const auto& host : map_.hosts) workers += host.size();
    return workers;
  }());
  Run([&] {
    std::vector<float> blocks = GatherHosts(mine);
    const std::size_t block = blocks.size() * sizeof(float) / map_.hosts.size();
    for (std::size_t host = 0; host < map_.hosts.size(); ++host) {
      std::span<std::byte> from = BytesOf(blocks).subspan(host * block);
      for (const int worker : map_.hosts[host]) {
        const auto offset = static_cast<std::ptrdiff_t>(mine.size()) * worker;
        std::ranges::copy(from.first(mine.size()), all.begin() + offset);
        from = from.subspan(mine.size());
      }
    }
  });
  return all;
}

/// One block a host, equally long: what its workers contribute, in the order of their ranks there.
std::vector<float> HierarchicalCollective::GatherHosts(std::span<const std::byte> mine) {
  std::size_t largest = 0;
  for (const auto& host : map_.hosts) largest = std::max(largest, host.size());
  // Never empty: it is a barrier too.
  const std::size_t floats = largest * mine.size() / sizeof(float) + 1;
  std::vector<float> blocks(floats * map_.hosts.size());
  const auto here = inner_->AllGather(mine);
  std::vector<float> block(floats);
  std::ranges::copy(here, BytesOf(block).begin());
  if (map_.here.rank == 0) {
    std::ranges::copy(block, blocks.begin());  // of one host
    Outside([&] {
      const auto gathered = outer_->AllGather(BytesOf(block));
      std::ranges::copy(gathered, BytesOf(blocks).begin());
    });
  }
  inner_->Broadcast(blocks, 0);
  return blocks;
}

Traffic HierarchicalCollective::traffic() const {
  return outer_ == nullptr ? Traffic{} : outer_->traffic();
}

template <typename Steps>
void HierarchicalCollective::Outside(const Steps& steps) {
  if (outer_ == nullptr) return;
  try {
    steps();
  } catch (const CommError& error) {
    // Lanes number their workers by host.
    std::size_t host = 0;
    const std::string& peer = error.peer();
    const std::string_view prefix = "worker ";
    const bool named =
        peer.starts_with(prefix) &&
        std::from_chars(peer.data() + prefix.size(), peer.data() + peer.size(), host).ec ==
            std::errc() &&
        host < map_.hosts.size();
    if (!named) throw;
    const auto lane = static_cast<std::size_t>(map_.here.rank);
    throw CommError(NameOf(map_.hosts[host][lane]), error.operation(), error.what());
  }
}

template <typename Steps>
void HierarchicalCollective::Run(const Steps& steps) {
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  try {
    steps();
  } catch (const CommError& error) {
    Fail(error);
  }
}

void HierarchicalCollective::Fail(const CommError& seen) {
  const std::string self = NameOf(rank_);
  ReportSuspect(store_, prefix_, self, seen.peer());
  outer_.reset();
  inner_.reset();
  const std::string culprit = FindCulprit(store_, prefix_, self, seen.peer());
  failure_ = std::make_exception_ptr(CommError(culprit, seen.operation(), seen.what()));
  std::rethrow_exception(failure_);
}

}  // namespace ringside
