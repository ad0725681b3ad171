#include "ringside/ring/collectives/collective_table.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <utility>

#include "ringside/ring/backends/backend_library.h"
#include "ringside/ring/backends/nccl_settings.h"
#include "ringside/ring/collectives/all_reduce_host_collective.h"
#include "ringside/ring/collectives/auto_collective.h"
#include "ringside/ring/collectives/hierarchical_collective.h"
#include "ringside/ring/collectives/host_sum.h"
#include "ringside/ring/core/host_map.h"
#include "ringside/ring/shm/shm_collective.h"
#include "ringside/ring/transports/gloo_collective.h"

namespace ringside {
namespace {

template <RingAlgorithm algorithm>
std::unique_ptr<EncodableCollective> NewGloo(const CollectiveContext& context) {
  return std::make_unique<GlooCollective>(context.world, context.store, context.comm, algorithm,
                                          context.prefix);
}

std::unique_ptr<EncodableCollective> NewAuto(const CollectiveContext& context) {
  return std::make_unique<AutoCollective>(context);
}

template <std::unique_ptr<EncodableCollective> (*make)(const CollectiveContext&)>
std::unique_ptr<Collective> Plain(const CollectiveContext& context) {
  return make(context);
}

template <std::unique_ptr<EncodableCollective> (*make)(const CollectiveContext&)>
std::unique_ptr<Collective> Encoded(const CollectiveContext& context,
                                    const EncodedCollectiveFactory& encode) {
  return encode(make(context));
}

template <RingAlgorithm algorithm>
CollectiveEntry GlooEntry(std::string name, Topology topology, Cost (*bound)(const CostInput&),
                          std::string summary) {
  return {
      .name = std::move(name),
      .summary = std::move(summary),
      .topology = topology,
      .make = Plain<NewGloo<algorithm>>,
      .make_encoded = Encoded<NewGloo<algorithm>>,
      .why_not_encoded =
          [](const CodecOptions& codec) { return WhyNotEncoded(AlgorithmOf(algorithm), codec); },
      .bound = bound};
}

/// For libraries that add floats themselves, where our code can neither decode nor encode.
std::string WhyLibraryCannotEncode(const CodecOptions& codec) {
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
  return MapHosts(context.world.rank, StoreAllGather(context.store, context.world, context.prefix,
                                                     context.world.host, deadline));
}

/// Short waits, since the model computes on the same cores while the communication thread waits.
constexpr ShmWaitPolicy kBesideModel{.spin = std::chrono::microseconds(20),
                                     .yield = std::chrono::microseconds(20)};

std::unique_ptr<HostCollective> MakeInside(const CollectiveContext& context, const HostMap& map) {
  const std::string prefix = fmt::format("{}/host {}", context.prefix, map.host);
  if (context.options.Get(kHostSum) == HostSum::kShm) {
    return std::make_unique<ShmCollective>(map.here, context.store, context.comm, prefix,
                                           kBesideModel);
  }
  World host = context.world;
  host.rank = map.here.rank;
  host.workers = static_cast<int>(map.here.workers.size());
  return std::make_unique<AllReduceHostCollective>(
      kNcclLibrary.Load().make({host, context.store, context.comm, context.options, prefix}),
      host.rank);
}

/// `encode` wraps the sums across hosts; null: not encoded. Inside a host nothing is sent.
std::unique_ptr<Collective> MakeHierarchy(const CollectiveContext& context,
                                          const EncodedCollectiveFactory& encode) {
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

std::optional<OptionRefusal> CheckHierarchical(const StrategyOptions& options, int, int) {
  const bool nccl = options.Get(kHostSum) == HostSum::kNccl;
  const bool shares_gpu = options.Get(kNcclShareGpu);
  if (!nccl && (options.Get(kNcclAlgorithm) != NcclAlgorithm::kRing || shares_gpu)) {
    return OptionRefusal{std::string(shares_gpu ? kNcclShareGpu.name : kNcclAlgorithm.name),
                         "hierarchical uses NCCL with host-sum nccl alone"};
  }
  const std::string reason = nccl ? kNcclLibrary.Unavailable() : "";
  if (reason.empty()) return std::nullopt;
  return OptionRefusal{std::string(kHostSum.name), "nccl: " + reason + "; or take shm",
                       /*missing_backend=*/true};
}

TransportUse HierarchicalTransport(const StrategyOptions& options, int workers, int hosts) {
  const bool nccl = options.Get(kHostSum) == HostSum::kNccl;
  if (hosts <= 1) return {nccl ? "nccl" : "shm"};
  if (hosts >= workers) return {"tcp"};
  return {nccl ? "nccl+tcp" : "shm+tcp"};
}

/// The transports that `auto` can choose from.
TransportUse AutoTransport(const StrategyOptions& options, int workers, int hosts) {
  const bool encoded = options.codec.entry->scheme == AggregationScheme::kReencodedPerHop;
  if (encoded || hosts >= workers) return {"tcp"};
  return {hosts <= 1 ? "shm or tcp" : "shm+tcp or tcp"};
}

constexpr std::array kTable{
    &kRingCollective,
    &kHalvingDoublingCollective,
    &kRecursiveDoublingCollective,
    &kTreeCollective,
    &kShmCollective,
    &kHierarchicalCollective,
    &kAutoCollective,
    &kMpiCollective,
    &kNcclCollective,
};

}  // namespace

const CollectiveEntry kRingCollective = GlooEntry<RingAlgorithm::kRing>(
    "ring", Topology::kRing, RingCost, "ring all-reduce over Gloo's TCP transport, pipelined");
const CollectiveEntry kHalvingDoublingCollective = GlooEntry<RingAlgorithm::kHalvingDoubling>(
    "halving-doubling", Topology::kHalvingDoubling, HalvingDoublingCost,
    "recursive halving and doubling over Gloo's TCP transport");
const CollectiveEntry kRecursiveDoublingCollective = GlooEntry<RingAlgorithm::kRecursiveDoubling>(
    "recursive-doubling", Topology::kRecursiveDoubling, RecursiveDoublingCost,
    "recursive doubling over Gloo's TCP transport: fewest steps, for small messages");
const CollectiveEntry kTreeCollective = GlooEntry<RingAlgorithm::kTree>(
    "tree", Topology::kTree, TreeCost, "double binary tree over Gloo's TCP transport, pipelined");

const CollectiveEntry kAutoCollective{
    .name = "auto",
    .summary = "times Gloo's algorithms and shared memory at the start, picks by size, says what",
    .make = Plain<NewAuto>,
    .memory = MemoryKind::kShared,
    .make_encoded = Encoded<NewAuto>,
    .transport = AutoTransport,
    .repeatable = false};

const CollectiveEntry kMpiCollective{
    .name = "mpi",
    .summary = "MPI_Allreduce under mpirun; chooses its own algorithm",
    .make = MakeFrom<kMpiLibrary>,
    .why_not_encoded = WhyLibraryCannotEncode,
    .unavailable = [] { return kMpiLibrary.Unavailable(); },
    .backend = "OpenMPI",
    .transport = [](const StrategyOptions&, int, int) { return TransportUse{"mpi"}; },
    .ranks = Ranks::kMpiProcesses,
    .passes_links_by =
        "is started by mpirun, whose own connections know nothing of emulated hosts"};

const CollectiveEntry kNcclCollective{
    .name = "nccl",
    .summary = "NCCL on CUDA, one GPU a worker, its ring or tree pinned",
    .make = MakeFrom<kNcclLibrary>,
    .why_not_encoded = WhyLibraryCannotEncode,
    .options = {kScheduleOption, kCodecOption, kErrorFeedbackOption, kNcclAlgorithm, kNcclShareGpu},
    .unavailable = [] { return kNcclLibrary.Unavailable(); },
    .backend = "NCCL",
    .transport = [](const StrategyOptions&, int, int) { return TransportUse{"nccl"}; },
    .ranks = Ranks::kProcesses,
    .passes_links_by = "finds ways between the devices of one machine that pass emulated links by"};

const CollectiveEntry kShmCollective{
    .name = "shm",
    .summary = "one host: sums and updates shares of the workers' shared memory in place",
    .topology = Topology::kSharedMemory,
    .make = MakeShm,
    .memory = MemoryKind::kShared,
    .why_not_encoded =
        [](const CodecOptions&) {
          return std::string(
              "nothing travels through shared memory: encoding would only cost time");
        },
    .bound = NoCost,  // no link is used
    .options = {},
    .rejected_keys =
        {{"codec", "nothing travels through shared memory: encoding would only cost time"},
         {"error-feedback", "no codec makes sense in shared memory, where nothing travels"},
         {"schedule",
          "there is no link that an urgent bucket could have first: whoever awaits a bucket "
          "updates it"}},
    .transport = [](const StrategyOptions&, int, int) { return TransportUse{"shm"}; },
    .needs_one_host = [](const StrategyOptions&) -> std::optional<OneHostNeed> {
      return OneHostNeed{.reason = "shares the memory of one host; across hosts take hierarchical"};
    }};

const CollectiveEntry kHierarchicalCollective{
    .name = "hierarchical",
    .summary = "shared memory or NCCL inside a host, rings over Gloo across hosts",
    .topology = Topology::kRingOfHosts,
    .make = [](const CollectiveContext& context) { return MakeHierarchy(context, nullptr); },
    .memory = MemoryKind::kShared,
    .make_encoded = MakeHierarchy,
    .bound = HierarchicalCost,
    .options = {kScheduleOption, kCodecOption, kErrorFeedbackOption, kHostSum, kNcclAlgorithm,
                kNcclShareGpu},
    .check = CheckHierarchical,
    .transport = HierarchicalTransport};

std::span<const CollectiveEntry* const> CollectiveTable() { return kTable; }

}  // namespace ringside
