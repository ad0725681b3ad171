#include "ringside/ring/strategies/all_reduce_entry.h"

#include <memory>
#include <string>

#include "ringside/ring/collectives/codec_collective.h"
#include "ringside/ring/strategies/all_reduce_strategy.h"

namespace ringside {

namespace {

using StrategyFactory = decltype(StrategyEntry::make);
using OptionCheck = decltype(StrategyEntry::check);

StrategyFactory FactoryOf(const CollectiveEntry& collective) {
  if (collective.make_strategy != nullptr) return collective.make_strategy;
  return [collective](const StrategyContext& context) -> std::unique_ptr<Strategy> {
    return std::make_unique<AllReduceStrategy>(context, [collective, context] {
      return MakeSum(collective,
                     {context.world, context.store, context.comm, context.options,
                      "collective/" + collective.name},
                     context.recorder, context.timeline);
    });
  };
}

/// The sums need no optimizer on the host. A codec, and a strategy of the collective's own, work in
/// host memory.
decltype(StrategyEntry::device_use) DeviceUseOf(const CollectiveEntry& collective) {
  if (collective.make_strategy != nullptr) return {};
  return [on_device = collective.sums_on_device](const StrategyOptions& options) {
    return on_device && !options.codec.encodes() ? DeviceUse::kBuckets : DeviceUse::kUpdates;
  };
}

OptionCheck CheckOf(const CollectiveEntry& collective) {
  if (collective.make_strategy != nullptr) return collective.check;
  return [collective](const StrategyOptions& options, int workers,
                      int servers) -> std::optional<OptionRefusal> {
    if (auto refusal = CheckCodecOn(collective, options.codec)) return refusal;
    if (collective.check == nullptr) return std::nullopt;
    return collective.check(options, workers, servers);
  };
}

}  // namespace

StrategyEntry AllReduceEntry(const CollectiveEntry& collective) {
  return {.name = collective.name,
          .summary = collective.summary,
          .traits = {.family = Family::kRing,
                     .topology = collective.topology,
                     .memory = collective.memory,
                     .ranks = collective.ranks,
                     .repeatable = collective.repeatable,
                     .leaves_sums = collective.make_strategy == nullptr || collective.leaves_sums},
          .make = FactoryOf(collective),
          .device_use = DeviceUseOf(collective),
          .bound = collective.bound,
          .traffic = collective.traffic,
          .chooses_among = collective.chooses_among,
          .options = collective.options,
          .rejected_keys = collective.rejected_keys,
          .check = CheckOf(collective),
          .unavailable = collective.unavailable,
          .backend = collective.backend,
          .transport = collective.transport,
          .needs_one_host = collective.needs_one_host,
          .passes_links_by = collective.passes_links_by};
}

}  // namespace ringside
