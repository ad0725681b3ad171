// The table entries whose workers step alone between sums over the ring.
#include <initializer_list>
#include <memory>
#include <vector>

#include "ringside/ring/algorithms/ring_algorithms.h"
#include "ringside/ring/collectives/link_collective_entry.h"
#include "ringside/ring/strategies/all_reduce_strategy.h"
#include "ringside/ring/strategies/diloco.h"
#include "ringside/ring/strategies/local_sgd.h"
#include "ringside/ring/strategies/ring_strategies.h"

namespace ringside {
namespace {

template <typename Rule>
std::unique_ptr<Strategy> Make(const StrategyContext& context) {
  const auto connect = [context] {
    return LinkCollectiveEntry(kRingAlgorithm)
        .make({context.world, context.store, context.comm, context.options, "collective/ring",
               &context.timeline});
  };
  return std::make_unique<AllReduceStrategy>(context, connect, std::make_unique<Rule>(context));
}

template <typename Rule>
StrategyEntry Entry(const char* name, const char* summary,
                    std::initializer_list<OptionDeclaration> options) {
  return {
      .name = name,
      .summary = summary,
      .traits = {.family = Family::kRing,
                 .topology = Topology::kRing,
                 .agreement = Agreement::kPeriodic},
      .make = Make<Rule>,
      .bound = PeriodicRingCost,
      .options = options,
      .rejected_keys =
          {{"codec",
            "codecs encode the gradient of a step; parameters after many steps are averaged as "
            "fp32"},
           {"error-feedback", "no codec makes sense where no gradient of a step travels"},
           {"schedule",
            "only one step in sync-every sends anything: an order of buckets would save almost "
            "nothing"}},
      .transport = [](const StrategyOptions&, int, int) { return TransportUse{"tcp"}; },
      .steps_per_sum = [](const StrategyOptions& set) { return set.Get(kSyncEvery); },
  };
}

}  // namespace

std::vector<StrategyEntry> PeriodicStrategies() {
  return {
      Entry<LocalSgd>("local-sgd",
                      "workers step alone and average their parameters every H steps (sync-every)",
                      {kSyncEvery}),
      Entry<Diloco>("diloco",
                    "like local-sgd, but an outer Nesterov momentum applies the averaged progress",
                    {kSyncEvery, kOuterLr, kOuterMomentum})};
}

}  // namespace ringside
