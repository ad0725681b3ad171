#include "ring/ring_strategies.h"

#include <array>
#include <string>
#include <string_view>

#include "ring/all_reduce_strategy.h"
#include "ring/backend_library.h"
#include "ring/codec_collective.h"
#include "ring/collective_table.h"
#include "ring/shm_strategy.h"

namespace ringside {
namespace {

template <const CollectiveEntry& collective>
std::unique_ptr<Strategy> Make(const StrategyContext& context) {
  return std::make_unique<AllReduceStrategy>(context, [context] {
    return MakeSum(collective,
                   {context.world, context.store, context.comm, context.options,
                    "collective/" + std::string(collective.name)},
                   context.recorder, context.timeline);
  });
}

template <const CollectiveEntry& collective>
std::optional<OptionRefusal> CheckCodec(const StrategyOptions& options, int, int) {
  return CheckCodecOn(collective, options.codec);
}

constexpr std::array<std::string_view, 3> kKeys{"schedule", "codec", "error-feedback"};
constexpr std::array<std::string_view, 5> kNcclKeys{"schedule", "codec", "error-feedback",
                                                    "nccl-algorithm", "nccl-share-gpu"};
constexpr std::array<std::string_view, 6> kHierarchicalKeys{
    "schedule", "codec", "error-feedback", "host-sum", "nccl-algorithm", "nccl-share-gpu"};

std::optional<OptionRefusal> CheckHierarchical(const StrategyOptions& options, int workers,
                                               int servers) {
  const bool nccl = options.host_sum == HostSum::kNccl;
  if (!nccl && (options.nccl_algorithm != NcclAlgorithm::kRing || options.nccl_share_gpu)) {
    return OptionRefusal{options.nccl_share_gpu ? "nccl-share-gpu" : "nccl-algorithm",
                         "hierarchical uses NCCL with host-sum nccl alone"};
  }
  if (auto refusal = CheckCodec<kHierarchicalCollective>(options, workers, servers)) return refusal;
  const std::string reason = nccl ? kNcclLibrary.Unavailable() : "";
  if (reason.empty()) return std::nullopt;
  return OptionRefusal{"host-sum", "nccl: " + reason + "; or take shm", /*missing_backend=*/true};
}

std::string_view OverTcp(const StrategyOptions&, int, int) { return "tcp"; }
std::string_view OverMpi(const StrategyOptions&, int, int) { return "mpi"; }
std::string_view OverNccl(const StrategyOptions&, int, int) { return "nccl"; }
std::string_view ThroughSharedMemory(const StrategyOptions&, int, int) { return "shm"; }

std::string_view InsideAndAcrossHosts(const StrategyOptions& options, int workers, int hosts) {
  const bool nccl = options.host_sum == HostSum::kNccl;
  if (hosts <= 1) return nccl ? "nccl" : "shm";
  if (hosts >= workers) return "tcp";
  return nccl ? "nccl+tcp" : "shm+tcp";
}

/// What it can pick from.
std::string_view WhatIsFastest(const StrategyOptions& options, int workers, int hosts) {
  const bool encoded = WayOf(options.codec.kind) == CodecWay::kOnTheWay;
  if (encoded || hosts >= workers) return "tcp";
  return hosts <= 1 ? "shm or tcp" : "shm+tcp or tcp";
}

constexpr std::array kSenselessInSharedMemory{
    KeyReason{"codec", "nothing travels through shared memory: encoding would only cost time"},
    KeyReason{"error-feedback", "no codec makes sense in shared memory, where nothing travels"},
    KeyReason{"schedule",
              "there is no link that an urgent bucket could have first: whoever awaits a bucket "
              "updates it"},
};

}  // namespace

const StrategyEntry kRingEntry{
    .name = "ring",
    .family = Family::kRing,
    .summary = "ring all-reduce over Gloo's TCP transport, pipelined",
    .synchronous = true,
    .averaging = Averaging::kGlobalBatch,
    .memory = MemoryKind::kOrdinary,
    .make = Make<kRingCollective>,
    .make_server = nullptr,
    .bound = RingCost,
    .keys = kKeys,
    .check = CheckCodec<kRingCollective>,
    .transport = OverTcp,
};

const StrategyEntry kHalvingDoublingEntry{
    .name = "halving-doubling",
    .family = Family::kRing,
    .summary = "recursive halving and doubling over Gloo's TCP transport",
    .synchronous = true,
    .averaging = Averaging::kGlobalBatch,
    .memory = MemoryKind::kOrdinary,
    .make = Make<kHalvingDoublingCollective>,
    .make_server = nullptr,
    .bound = HalvingDoublingCost,
    .keys = kKeys,
    .check = CheckCodec<kHalvingDoublingCollective>,
    .transport = OverTcp,
};

const StrategyEntry kRecursiveDoublingEntry{
    .name = "recursive-doubling",
    .family = Family::kRing,
    .summary = "recursive doubling over Gloo's TCP transport: fewest steps, for small messages",
    .synchronous = true,
    .averaging = Averaging::kGlobalBatch,
    .memory = MemoryKind::kOrdinary,
    .make = Make<kRecursiveDoublingCollective>,
    .make_server = nullptr,
    .bound = RecursiveDoublingCost,
    .keys = kKeys,
    .check = CheckCodec<kRecursiveDoublingCollective>,
    .transport = OverTcp,
};

const StrategyEntry kTreeEntry{
    .name = "tree",
    .family = Family::kRing,
    .summary = "double binary tree over Gloo's TCP transport, pipelined",
    .synchronous = true,
    .averaging = Averaging::kGlobalBatch,
    .memory = MemoryKind::kOrdinary,
    .make = Make<kTreeCollective>,
    .make_server = nullptr,
    .bound = TreeCost,
    .keys = kKeys,
    .check = CheckCodec<kTreeCollective>,
    .transport = OverTcp,
};

const StrategyEntry kMpiEntry{
    .name = "mpi",
    .family = Family::kRing,
    .summary = "MPI_Allreduce under mpirun; chooses its own algorithm",
    .synchronous = true,
    .averaging = Averaging::kGlobalBatch,
    .memory = MemoryKind::kOrdinary,
    .make = Make<kMpiCollective>,
    .make_server = nullptr,
    .bound = AllReduceCost,
    .keys = kKeys,
    .check = CheckCodec<kMpiCollective>,
    .unavailable = [] { return kMpiLibrary.Unavailable(); },
    .ranks = Ranks::kMpiProcesses,
    .transport = OverMpi,
};

const StrategyEntry kAutoEntry{
    .name = "auto",
    .family = Family::kRing,
    .summary = "times Gloo's algorithms and shared memory at the start, picks by size, says what",
    .synchronous = true,
    .averaging = Averaging::kGlobalBatch,
    .memory = MemoryKind::kShared,
    .make = Make<kAutoCollective>,
    .make_server = nullptr,
    .bound = AllReduceCost,
    .keys = kKeys,
    .check = CheckCodec<kAutoCollective>,
    .repeatable = false,
    .transport = WhatIsFastest,
};

const StrategyEntry kNcclEntry{
    .name = "nccl",
    .family = Family::kRing,
    .summary = "NCCL on CUDA, one GPU a worker, its ring or tree pinned",
    .synchronous = true,
    .averaging = Averaging::kGlobalBatch,
    .memory = MemoryKind::kOrdinary,
    .make = Make<kNcclCollective>,
    .make_server = nullptr,
    .bound = AllReduceCost,
    .keys = kNcclKeys,
    .check = CheckCodec<kNcclCollective>,
    .unavailable = [] { return kNcclLibrary.Unavailable(); },
    .ranks = Ranks::kProcesses,
    .transport = OverNccl,
};

const StrategyEntry kShmEntry{
    .name = "shm",
    .family = Family::kRing,
    .summary = "one host: sums and updates shares of the workers' shared memory in place",
    .synchronous = true,
    .averaging = Averaging::kGlobalBatch,
    .memory = MemoryKind::kShared,
    .make = [](const StrategyContext& context) -> std::unique_ptr<Strategy> {
      return std::make_unique<ShmStrategy>(context);
    },
    .make_server = nullptr,
    .bound = NoCost,  // no link is used
    .one_host = true,
    .transport = ThroughSharedMemory,
    .senseless_keys = kSenselessInSharedMemory,
};

const StrategyEntry kHierarchicalEntry{
    .name = "hierarchical",
    .family = Family::kRing,
    .summary = "shared memory or NCCL inside a host, rings over Gloo across hosts",
    .synchronous = true,
    .averaging = Averaging::kGlobalBatch,
    .memory = MemoryKind::kShared,
    .make = Make<kHierarchicalCollective>,
    .make_server = nullptr,
    .bound = HierarchicalCost,
    .keys = kHierarchicalKeys,
    .check = CheckHierarchical,
    .transport = InsideAndAcrossHosts,
};

}  // namespace ringside
