#include "ringside/paramserver/strategies/ps_strategies.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/paramserver/server/consistency_table.h"
#include "ringside/paramserver/slicing/slice_sizes.h"
#include "ringside/paramserver/strategies/ps_server.h"
#include "ringside/paramserver/wire/checksum.h"
#include "ringside/paramserver/worker/ps_strategy.h"

namespace ringside {
namespace {

TransportUse UseOf(const TransportEntry& transport) {
  return {.name = std::string(transport.name),
          .medium = std::string(transport.medium),
          .takes_tls = transport.takes_tls};
}

std::optional<OneHostNeed> OneHostNeedOf(const StrategyOptions& options,
                                         const TransportTable& transports) {
  if (!transports.Of(options).needs_one_host) return std::nullopt;
  return OneHostNeed{
      .key = std::string(kPsTransport.name),
      .reason = transports.OneHostReason() + "; take " + std::string(kPsTransport.default_value)};
}

bool ServersUpdate(const ConsistencyEntry& consistency, const StrategyOptions& options) {
  return !consistency.may_only_sum || options.Get(kServerUpdate);
}

int AwaitedPushes(const ConsistencyEntry& consistency, const StrategyContext& context) {
  const int workers = context.world.workers;
  if (consistency.awaited_pushes) return consistency.awaited_pushes(context.options, workers);
  return consistency.agreement == Agreement::kSynchronous ? workers : 1;
}

}  // namespace

StrategyEntry ServerStrategyEntry(const ConsistencyEntry& consistency,
                                  const TransportTable& transports) {
  const auto make_worker = [consistency, transports](const StrategyContext& context) {
    if (context.caller_updates && ServersUpdate(consistency, context.options)) {
      throw ConfigError("the servers of '" + consistency.name +
                        "' update the parameters, so a worker cannot; give --server-update off");
    }
    return std::make_unique<PsStrategy>(
        context, transports,
        PsStrategyOptions{.whole_buckets = consistency.whole_buckets,
                          .answers_at_once = consistency.answers_at_once,
                          .awaited_pushes = AwaitedPushes(consistency, context),
                          .servers_update = ServersUpdate(consistency, context.options)});
  };
  const auto make_server = [consistency, transports](const ServerContext& context) {
    return std::make_unique<PsServer>(
        context, transports.Of(context.options),
        [make = consistency.make, context] { return make(context); },
        ServersUpdate(consistency, context.options) ? ShardTable::Work::kUpdate
                                                    : ShardTable::Work::kSum);
  };
  const auto check = [consistency, transports](const StrategyOptions& options, int workers,
                                               int servers) -> std::optional<OptionRefusal> {
    if (consistency.check != nullptr) {
      if (auto refusal = consistency.check(options, workers, servers)) return refusal;
    }
    return CheckServerCodec(options.codec, transports.Of(options));
  };
  const bool everywhere = consistency.servers == ServerPlacement::kEveryWorker;
  StrategyEntry entry{
      .name = consistency.name,
      .summary = consistency.summary,
      .traits = {.family = Family::kParameterServer,
                 .topology = Topology::kServers,
                 .agreement = consistency.agreement,
                 .servers = consistency.servers,
                 .drops_workers = consistency.drops_workers,
                 .leaves_sums = consistency.may_only_sum},
      .make = make_worker,
      .make_server = make_server,
      .bound = everywhere ? MixedServerCost : ParameterServerCost,
      .options = {transports.Option(), kScheduleOption, kCodecOption, kErrorFeedbackOption,
                  kWindowKb, kCheckPushes},
      .check = check,
      .transport = [transports](const StrategyOptions& options, int,
                                int) { return UseOf(transports.Of(options)); },
      .needs_one_host =
          [transports](const StrategyOptions& options) {
            return OneHostNeedOf(options, transports);
          },
      .losing_nothing = consistency.losing_nothing,
  };
  if (!consistency.whole_buckets) entry.options.emplace_back(kSliceKb);
  // Under `priority` the next forward pass waits for whole buckets, beginning with the one that
  // became ready last. With small ones it can begin early.
  entry.largest_bucket = [whole = consistency.whole_buckets](const StrategyOptions& options,
                                                             const World& world,
                                                             double bytes_per_s) -> std::size_t {
    if (!whole && options.order == SendOrder::kFifo) return 0;
    return SmallBucketTarget(bytes_per_s, world);
  };
  std::ranges::copy(consistency.options, std::back_inserter(entry.options));
  return entry;
}

std::vector<StrategyEntry> ServerStrategies(const TransportTable& transports) {
  std::vector<StrategyEntry> strategies;
  for (const ConsistencyEntry& entry : ConsistencyTable()) {
    strategies.push_back(ServerStrategyEntry(entry, transports));
  }
  return strategies;
}

}  // namespace ringside
