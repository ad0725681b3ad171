#include "ring/ring_strategies.h"

#include "ring/all_reduce_strategy.h"
#include "ring/gloo_collective.h"

namespace ringside {
namespace {

template <RingAlgorithm algorithm>
std::unique_ptr<Strategy> Make(const StrategyContext& context) {
  return std::make_unique<AllReduceStrategy>(context, [context]() -> std::unique_ptr<Collective> {
    const auto* prefix = algorithm == RingAlgorithm::kRing ? "gloo/ring" : "gloo/halving-doubling";
    return std::make_unique<GlooCollective>(context.world, context.store, context.comm, algorithm,
                                            prefix);
  });
}

}  // namespace

const StrategyEntry kRingEntry{
    .name = "ring",
    .family = Family::kRing,
    .summary = "ring all-reduce over Gloo's TCP transport, pipelined",
    .synchronous = true,
    .averaging = Averaging::kGlobalBatch,
    .memory = MemoryKind::kOrdinary,
    .make = Make<RingAlgorithm::kRing>,
    .make_server = nullptr,
    .bound = RingCost,
};

const StrategyEntry kHalvingDoublingEntry{
    .name = "halving-doubling",
    .family = Family::kRing,
    .summary = "recursive halving and doubling over Gloo's TCP transport",
    .synchronous = true,
    .averaging = Averaging::kGlobalBatch,
    .memory = MemoryKind::kOrdinary,
    .make = Make<RingAlgorithm::kHalvingDoubling>,
    .make_server = nullptr,
    .bound = HalvingDoublingCost,
};

}  // namespace ringside
