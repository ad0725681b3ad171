#include "ringside/ring/collectives/collective_table.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "ringside/ring/algorithms/ring_algorithms.h"
#include "ringside/ring/backends/backend_library.h"
#include "ringside/ring/backends/nccl_settings.h"
#include "ringside/ring/collectives/all_reduce_host_collective.h"
#include "ringside/ring/collectives/auto_collective.h"
#include "ringside/ring/collectives/hierarchical_collective.h"
#include "ringside/ring/collectives/host_sum.h"
#include "ringside/ring/collectives/link_collective_entry.h"
#include "ringside/ring/core/host_map.h"
#include "ringside/ring/shm/shm_collective.h"
#include "ringside/ring/shm/shm_strategy.h"
#include "ringside/ring/transports/gloo_collective.h"

namespace ringside {
namespace {

std::unique_ptr<Collective> MakeAuto(const CollectiveContext& context) {
  return std::make_unique<AutoCollective>(context);
}

std::unique_ptr<Collective> MakeEncodedAuto(const CollectiveContext& context,
                                            const EncodedCollectiveFactory& encode) {
  return encode(std::make_unique<AutoCollective>(context));
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
    auto ring = std::make_unique<GlooCollective>(
        lane, context.store, context.comm, kRingAlgorithm,
        fmt::format("{}/lane {}", context.prefix, map.here.rank), map.Lane(map.here.rank));
    ring->RecordTo(context.timeline);
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

}  // namespace

CollectiveEntry ShmCollectiveEntry() {
  return {.name = "shm",
          .summary = "one host: sums and updates chunks of the workers' shared memory in place",
          .topology = Topology::kSharedMemory,
          .make = MakeShm,
          .memory = MemoryKind::kShared,
          .why_not_encoded =
              [](const CodecOptions&) {
                return std::string(
                    "nothing travels through shared memory: encoding would only cost time");
              },
          .make_strategy = [](const StrategyContext& context) -> std::unique_ptr<Strategy> {
            return std::make_unique<ShmStrategy>(context);
          },
          .leaves_sums = true,
          .bound = NoCost,  // no link is used
          .options = {},
          .rejected_keys =
              {{"codec", "nothing travels through shared memory: encoding would only cost time"},
               {"error-feedback", "no codec makes sense in shared memory, where nothing travels"},
               {"schedule",
                "no bucket travels over a link, so none can go first: a worker updates the bucket "
                "that it awaits"}},
          .transport = [](const StrategyOptions&, int, int) { return TransportUse{"shm"}; },
          .needs_one_host = [](const StrategyOptions&) -> std::optional<OneHostNeed> {
            return OneHostNeed{.reason =
                                   "shares the memory of one host; across hosts take hierarchical"};
          }};
}

CollectiveEntry HierarchicalCollectiveEntry() {
  return {.name = "hierarchical",
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
}

/// What an `AutoCollective` may choose across links. It leaves some out where a codec or the hosts
/// do not allow them.
std::vector<std::string> ChoicesOfAuto() {
  std::vector<std::string> names;
  for (const LinkAlgorithm* algorithm : LinkAlgorithms()) names.emplace_back(algorithm->name);
  names.push_back(HierarchicalCollectiveEntry().name);
  return names;
}

CollectiveEntry AutoCollectiveEntry() {
  return {
      .name = "auto",
      .summary = "times Gloo's algorithms and shared memory at the start, picks by size, says what",
      .make = MakeAuto,
      .memory = MemoryKind::kShared,
      .make_encoded = MakeEncodedAuto,
      .chooses_among = ChoicesOfAuto(),
      .transport = AutoTransport,
      .repeatable = false};
}

CollectiveEntry MpiCollectiveEntry() {
  return {.name = "mpi",
          .summary = "MPI_Allreduce under mpirun; chooses its own algorithm",
          .make = MakeFrom<kMpiLibrary>,
          .why_not_encoded = WhyLibraryCannotEncode,
          .unavailable = [] { return kMpiLibrary.Unavailable(); },
          .backend = "OpenMPI",
          .transport = [](const StrategyOptions&, int, int) { return TransportUse{"mpi"}; },
          .ranks = Ranks::kMpiProcesses,
          .passes_links_by =
              "is started by mpirun, whose own connections know nothing of emulated hosts"};
}

CollectiveEntry NcclCollectiveEntry() {
  return {.name = "nccl",
          .summary = "NCCL on CUDA, one GPU a worker, its ring or tree pinned",
          .make = MakeFrom<kNcclLibrary>,
          .why_not_encoded = WhyLibraryCannotEncode,
          .sums_on_device = true,
          .options = {kScheduleOption, kCodecOption, kErrorFeedbackOption, kNcclAlgorithm,
                      kNcclShareGpu},
          .unavailable = [] { return kNcclLibrary.Unavailable(); },
          .backend = "NCCL",
          .transport = [](const StrategyOptions&, int, int) { return TransportUse{"nccl"}; },
          .ranks = Ranks::kProcesses,
          .passes_links_by =
              "sends directly between the devices of one machine, not over emulated links"};
}

std::vector<CollectiveEntry> CollectiveTable() {
  std::vector<CollectiveEntry> table;
  for (const LinkAlgorithm* algorithm : LinkAlgorithms()) {
    table.push_back(LinkCollectiveEntry(*algorithm));
  }
  for (const auto entry : {ShmCollectiveEntry, HierarchicalCollectiveEntry, AutoCollectiveEntry,
                           MpiCollectiveEntry, NcclCollectiveEntry}) {
    table.push_back(entry());
  }
  return table;
}

}  // namespace ringside
