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
#include "ring/whole_host_collective.h"

namespace ringside {
namespace {

template <RingAlgorithm algorithm>
std::unique_ptr<EncodingCollective> NewGloo(const CollectiveContext& context) {
  return std::make_unique<GlooCollective>(context.world, context.store, context.comm, algorithm,
                                          context.prefix);
}

std::unique_ptr<EncodingCollective> NewAuto(const CollectiveContext& context) {
  return std::make_unique<AutoCollective>(context);
}

template <std::unique_ptr<EncodingCollective> (*make)(const CollectiveContext&)>
std::unique_ptr<Collective> Plain(const CollectiveContext& context) {
  return make(context);
}

template <std::unique_ptr<EncodingCollective> (*make)(const CollectiveContext&)>
std::unique_ptr<Collective> Encoded(const CollectiveContext& context, const EncodeSums& encode) {
  return encode(make(context));
}

template <RingAlgorithm algorithm>
constexpr CollectiveEntry GlooEntry(std::string_view name) {
  return {.name = name,
          .make = Plain<NewGloo<algorithm>>,
          .make_encoded = Encoded<NewGloo<algorithm>>,
          .why_not_encoded = [](const CodecOptions& codec) {
            return WhyNotEncoded(AlgorithmOf(algorithm), codec);
          }};
}

/// What adds floats by itself, where nothing of ours can decode and encode.
std::string OfALibrary(const CodecOptions& codec) {
  return fmt::format(
      "its library adds up floats by itself, so {} cannot be decoded and encoded on the way; take "
      "topk, sign or powersgd, or strategy ring",
      CodecText(codec));
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

std::unique_ptr<HostCollective> MakeInside(const CollectiveContext& context, const HostMap& map) {
  const std::string prefix = fmt::format("{}/host {}", context.prefix, map.host);
  if (context.options.host_sum == HostSum::kShm) {
    return std::make_unique<ShmCollective>(map.here, context.store, context.comm, prefix,
                                           kBesideModel);
  }
  World host = context.world;
  host.rank = map.here.rank;
  host.workers = static_cast<int>(map.here.workers.size());
  return std::make_unique<WholeHostCollective>(
      kNcclLibrary.Load().make({host, context.store, context.comm, context.options, prefix}),
      host.rank);
}

/// `encode`: of the sums across hosts; null for plain ones. Inside a host nothing travels.
std::unique_ptr<Collective> MakeHierarchy(const CollectiveContext& context,
                                          const EncodeSums& encode) {
  HierarchyParts parts{.map = MapOf(context), .inner = nullptr, .outer = nullptr};
  const HostMap& map = parts.map;
  parts.inner = MakeInside(context, map);
  const int hosts = static_cast<int>(map.hosts.size());
  if (hosts > 1 && map.here.rank < map.smallest()) {
    World lane = context.world;
    lane.rank = map.host;
    lane.workers = hosts;
    auto ring =
        std::make_unique<GlooCollective>(lane, context.store, context.comm, RingAlgorithm::kRing,
                                         fmt::format("{}/lane {}", context.prefix, map.here.rank));
    parts.outer = encode == nullptr ? std::move(ring) : encode(std::move(ring));
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

const CollectiveEntry kRingCollective = GlooEntry<RingAlgorithm::kRing>("ring");
const CollectiveEntry kHalvingDoublingCollective =
    GlooEntry<RingAlgorithm::kHalvingDoubling>("halving-doubling");
const CollectiveEntry kRecursiveDoublingCollective =
    GlooEntry<RingAlgorithm::kRecursiveDoubling>("recursive-doubling");
const CollectiveEntry kTreeCollective = GlooEntry<RingAlgorithm::kTree>("tree");
const CollectiveEntry kAutoCollective{.name = "auto",
                                      .make = Plain<NewAuto>,
                                      .memory = MemoryKind::kShared,
                                      .make_encoded = Encoded<NewAuto>};

const CollectiveEntry kMpiCollective{
    .name = "mpi", .make = MakeFrom<kMpiLibrary>, .why_not_encoded = OfALibrary};
const CollectiveEntry kNcclCollective{
    .name = "nccl", .make = MakeFrom<kNcclLibrary>, .why_not_encoded = OfALibrary};

const CollectiveEntry kShmCollective{
    .name = "shm",
    .make = MakeShm,
    .memory = MemoryKind::kShared,
    .why_not_encoded = [](const CodecOptions&) {
      return std::string("nothing travels through shared memory: encoding would only cost time");
    }};
const CollectiveEntry kHierarchicalCollective{
    .name = "hierarchical",
    .make = [](const CollectiveContext& context) { return MakeHierarchy(context, nullptr); },
    .memory = MemoryKind::kShared,
    .make_encoded = MakeHierarchy};

std::span<const CollectiveEntry* const> CollectiveTable() { return kTable; }

}  // namespace ringside
