#include "ring/collective_table.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <utility>

#include "ring/auto_collective.h"
#include "ring/backend_library.h"
#include "ring/gloo_collective.h"
#include "ring/hierarchical_collective.h"
#include "ring/host_map.h"
#include "ring/shm_collective.h"

namespace ringside {
namespace {

template <RingAlgorithm algorithm>
std::unique_ptr<Collective> MakeGloo(const CollectiveContext& context) {
  return std::make_unique<GlooCollective>(context.world, context.store, context.comm, algorithm,
                                          context.prefix);
}

template <const BackendLibrary& library>
std::unique_ptr<Collective> MakeFrom(const CollectiveContext& context) {
  return library.Load().make(context);
}

std::unique_ptr<Collective> MakeShm(const CollectiveContext& context) {
  return std::make_unique<ShmCollective>(AllOnOneHost(context.world), context.store, context.comm,
                                         context.prefix);
}

HostMap MapOf(const CollectiveContext& context) {
  const Deadline deadline = Deadline::After(context.comm.rendezvous_timeout());
  return MapHosts(context.world.rank, Exchange(context.store, context.world, context.prefix,
                                               context.world.host, deadline));
}

/// The communication thread waits while the model computes on the same cores.
constexpr ShmPatience kBesideModel{.spin = std::chrono::microseconds(20),
                                   .yield = std::chrono::microseconds(20)};

std::unique_ptr<Collective> MakeHierarchical(const CollectiveContext& context) {
  HierarchyParts parts{.map = MapOf(context), .inner = nullptr, .outer = nullptr};
  const HostMap& map = parts.map;
  parts.inner = std::make_unique<ShmCollective>(map.here, context.store, context.comm,
                                                fmt::format("{}/host {}", context.prefix, map.host),
                                                kBesideModel);
  const int hosts = static_cast<int>(map.hosts.size());
  if (hosts > 1 && map.here.rank < map.smallest()) {
    World lane = context.world;
    lane.rank = map.host;
    lane.workers = hosts;
    parts.outer =
        std::make_unique<GlooCollective>(lane, context.store, context.comm, RingAlgorithm::kRing,
                                         fmt::format("{}/lane {}", context.prefix, map.here.rank));
  }
  return std::make_unique<HierarchicalCollective>(std::move(parts), context.world.rank,
                                                  context.store, context.prefix);
}

constexpr std::array kTable{
    &kRingCollective,
    &kHalvingDoublingCollective,
    &kRecursiveDoublingCollective,
    &kTreeCollective,
    &kAutoCollective,
    &kMpiCollective,
    &kNcclCollective,
    &kShmCollective,
    &kHierarchicalCollective,
};

}  // namespace

const CollectiveEntry kRingCollective{.name = "ring", .make = MakeGloo<RingAlgorithm::kRing>};
const CollectiveEntry kHalvingDoublingCollective{.name = "halving-doubling",
                                                 .make = MakeGloo<RingAlgorithm::kHalvingDoubling>};
const CollectiveEntry kRecursiveDoublingCollective{
    .name = "recursive-doubling", .make = MakeGloo<RingAlgorithm::kRecursiveDoubling>};
const CollectiveEntry kAutoCollective{
    .name = "auto", .make = [](const CollectiveContext& context) -> std::unique_ptr<Collective> {
      return std::make_unique<AutoCollective>(context);
    }};
const CollectiveEntry kTreeCollective{.name = "tree", .make = MakeGloo<RingAlgorithm::kTree>};

const CollectiveEntry kMpiCollective{.name = "mpi", .make = MakeFrom<kMpiLibrary>};
const CollectiveEntry kNcclCollective{.name = "nccl", .make = MakeFrom<kNcclLibrary>};

const CollectiveEntry kShmCollective{.name = "shm", .make = MakeShm, .memory = MemoryKind::kShared};
const CollectiveEntry kHierarchicalCollective{
    .name = "hierarchical", .make = MakeHierarchical, .memory = MemoryKind::kShared};

std::span<const CollectiveEntry* const> CollectiveTable() { return kTable; }

}  // namespace ringside
