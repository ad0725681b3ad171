// Steps and bytes for H hosts of G workers and M bytes. Within a host: 2 M per worker through its
// memory. Over a host's link: 2(H-1)/H M in each direction, in G rings at the same time, each of
// 2(H-1) steps.
#include "ringside/ring/collectives/hierarchical_collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "ringside/ring/core/failure_attribution.h"

namespace ringside {
namespace {

// For notes, where the lane has failed. It has waited for notes itself before.
constexpr std::chrono::milliseconds kGraceAfterLane{50};

std::string NameOf(int worker) { return fmt::format("worker {}", worker); }

}  // namespace

HierarchicalCollective::HierarchicalCollective(HierarchyParts parts, int rank, Store& store,
                                               std::string prefix)
    : map_(std::move(parts.map)),
      rank_(rank),
      inner_(std::move(parts.inner)),
      outer_(std::move(parts.outer)),
      store_(store),
      prefix_(std::move(prefix)) {}

void HierarchicalCollective::Prepare(const FlatSpace& space, const BucketPlan& plan) {
  Run([&] {
    inner_->Prepare(space, plan);
    AmongHosts([&](Collective& lane) { lane.Prepare(space, plan); });
  });
}

void HierarchicalCollective::AllReduceSum(const BucketMessage& message) {
  Run([&] {
    const int chunks = map_.smallest();
    const std::size_t elements = message.data.size();
    const std::size_t piece_elements = inner_->PieceElements(message);
    for (std::size_t begin = 0; begin < elements; begin += piece_elements) {
      const BucketMessage piece = message.Piece(begin, std::min(piece_elements, elements - begin));
      const BucketMessage chunk = inner_->ReduceScatter(piece, chunks);
      // A chunk is empty on all ranks of a lane or on none.
      if (!chunk.data.empty()) {
        AmongHosts([&](Collective& lane) { lane.AllReduceSum(chunk); });
      }
      inner_->AllGatherChunks(piece, chunks);
    }
  });
}

void HierarchicalCollective::Broadcast(std::span<std::byte> data, int root) {
  Run([&] {
    const auto has_root = [&](const auto& workers) {
      return std::ranges::count(workers, root) > 0;
    };
    const auto at = std::ranges::find_if(map_.hosts, has_root);
    const int host = static_cast<int>(at - map_.hosts.begin());
    const int rank = static_cast<int>(std::ranges::find(*at, root) - at->begin());
    if (host == map_.host) inner_->Broadcast(data, rank);
    if (map_.here.rank == 0) AmongHosts([&](Collective& lane) { lane.Broadcast(data, host); });
    if (host != map_.host) inner_->Broadcast(data, 0);
  });
}

void HierarchicalCollective::GatherAll(const BucketMessage* message,
                                       std::span<const std::byte> mine,
                                       std::vector<std::byte>& all) {
  std::size_t workers = 0;
  for (const auto& host : map_.hosts) workers += host.size();
  all.resize(mine.size() * workers);
  Run([&] {
    GatherHosts(message, mine);
    for (std::size_t host = 0; host < map_.hosts.size(); ++host) {
      std::span<const std::byte> from = std::span(blocks_).subspan(host * block_.size());
      for (const int worker : map_.hosts[host]) {
        const auto offset = static_cast<std::ptrdiff_t>(mine.size()) * worker;
        std::ranges::copy(from.first(mine.size()), all.begin() + offset);
        from = from.subspan(mine.size());
      }
    }
  });
}

/// Gathers one block per host, of the same length: the bytes of its workers, by their rank on the
/// host.
void HierarchicalCollective::GatherHosts(const BucketMessage* message,
                                         std::span<const std::byte> mine) {
  std::size_t largest = 0;
  for (const auto& host : map_.hosts) largest = std::max(largest, host.size());
  block_.resize(largest * mine.size() + 1);  // never empty, because it is also a barrier
  blocks_.resize(block_.size() * map_.hosts.size());
  inner_->AllGatherInto(mine, here_);
  std::ranges::copy(here_, block_.begin());
  if (map_.here.rank == 0) {
    std::ranges::copy(block_, blocks_.begin());  // there is one host
    AmongHosts([&](Collective& lane) {
      if (message != nullptr) lane.AllGatherOf(*message, block_, blocks_);
      if (message == nullptr) lane.AllGatherInto(block_, blocks_);
    });
  }
  inner_->Broadcast(blocks_, 0);
}

Traffic HierarchicalCollective::traffic() const {
  return outer_ == nullptr ? Traffic{} : outer_->traffic();
}

template <typename Steps>
void HierarchicalCollective::Run(const Steps& steps) {
  failure_.Check();
  try {
    steps();
  } catch (const CommError& error) {
    Fail(error);
  }
}

template <typename Steps>
void HierarchicalCollective::AmongHosts(const Steps& steps) {
  if (outer_ == nullptr) return;
  try {
    steps(*outer_);
  } catch (const CommError&) {
    outer_failed_ = true;
    throw;
  }
}

void HierarchicalCollective::Fail(const CommError& seen) {
  const std::string self = NameOf(rank_);
  ReportMissingPeer(store_, prefix_, self, seen.peer());
  outer_.reset();
  inner_.reset();
  const std::string culprit = FindFailedPeer(store_, prefix_, self, seen.peer(),
                                             outer_failed_ ? kGraceAfterLane : kReportGrace);
  // What was seen names the operation already.
  const CommError failure(culprit, seen.operation(),
                          culprit == seen.peer()
                              ? seen.reason()
                              : fmt::format("{} was missed first: {}", seen.peer(), seen.reason()));
  failure_.Set(failure);
  throw failure;
}

}  // namespace ringside
