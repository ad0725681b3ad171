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

constexpr std::array<std::string_view, 3> kKeys{"schedule", "codec", "error-feedback"};
constexpr std::array<std::string_view, 1> kAutoKeys{"schedule"};

constexpr std::array<std::string_view, 4> kNcclKeys{"schedule", "codec", "error-feedback",
                                                    "nccl-algorithm"};

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
    .check = CheckRingCodec,
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
    .check = CheckGatheringCodec,
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
    .check = CheckGatheringCodec,
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
    .check = CheckGatheringCodec,
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
    .check = CheckGatheringCodec,
    .unavailable = [] { return kMpiLibrary.Unavailable(); },
    .ranks = Ranks::kMpiProcesses,
};

const StrategyEntry kAutoEntry{
    .name = "auto",
    .family = Family::kRing,
    .summary = "times the algorithms at the start and picks by message size, and says what",
    .synchronous = true,
    .averaging = Averaging::kGlobalBatch,
    .memory = MemoryKind::kOrdinary,
    .make = Make<kAutoCollective>,
    .make_server = nullptr,
    .bound = AllReduceCost,
    .keys = kAutoKeys,
    .repeatable = false,
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
    .check = CheckGatheringCodec,
    .unavailable = [] { return kNcclLibrary.Unavailable(); },
    .ranks = Ranks::kProcesses,
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
};

const StrategyEntry kHierarchicalEntry{
    .name = "hierarchical",
    .family = Family::kRing,
    .summary = "shared memory inside a host, rings over Gloo across hosts",
    .synchronous = true,
    .averaging = Averaging::kGlobalBatch,
    .memory = MemoryKind::kShared,
    .make = Make<kHierarchicalCollective>,
    .make_server = nullptr,
    .bound = HierarchicalCost,
};

}  // namespace ringside
