#include "ringside/paramserver/strategies/ps_strategies.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "ringside/paramserver/server/consistency_table.h"
#include "ringside/paramserver/strategies/ps_server.h"
#include "ringside/paramserver/transports/transport_table.h"
#include "ringside/paramserver/wire/ps_transport.h"
#include "ringside/paramserver/worker/ps_strategy.h"

namespace ringside {
namespace {

std::unique_ptr<Strategy> MakeWorker(const StrategyContext& context) {
  return std::make_unique<PsStrategy>(context);
}

TransportUse Transport(const StrategyOptions& options, int, int) {
  const TransportEntry& transport = ServerTransportOf(options);
  return {.name = std::string(transport.name), .medium = std::string(transport.medium)};
}

std::optional<OneHostNeed> NeedsOneHost(const StrategyOptions& options) {
  if (!ServerTransportOf(options).needs_one_host) return std::nullopt;
  return OneHostNeed{.key = std::string(kPsTransport.name),
                     .reason = "uds and shm need workers and servers on one host; take grpc"};
}

}  // namespace

StrategyEntry ServerStrategyEntry(const ConsistencyEntry& consistency) {
  const auto make_server = [consistency](const ServerContext& context) -> std::unique_ptr<Server> {
    return std::make_unique<PsServer>(context,
                                      [make = consistency.make, context] { return make(context); });
  };
  const auto check = [consistency](const StrategyOptions& options, int workers,
                                   int servers) -> std::optional<OptionRefusal> {
    if (consistency.check != nullptr) {
      if (auto refusal = consistency.check(options, workers, servers)) return refusal;
    }
    return CheckServerCodec(options);
  };
  const bool everywhere = consistency.servers == ServerPlacement::kEveryWorker;
  StrategyEntry entry{
      .name = consistency.name,
      .summary = consistency.summary,
      .traits = {.family = Family::kParameterServer,
                 .topology = Topology::kServers,
                 .agreement = consistency.agreement,
                 .servers = consistency.servers},
      .make = MakeWorker,
      .make_server = make_server,
      .bound = everywhere ? MixedServerCost : ParameterServerCost,
      .options = {kPsTransport, kScheduleOption, kCodecOption, kErrorFeedbackOption},
      .check = check,
      .transport = Transport,
      .needs_one_host = NeedsOneHost,
      .losing_nothing = consistency.losing_nothing,
  };
  std::ranges::copy(consistency.options, std::back_inserter(entry.options));
  return entry;
}

std::vector<StrategyEntry> ServerStrategies() {
  std::vector<StrategyEntry> strategies;
  for (const ConsistencyEntry& entry : ConsistencyTable()) {
    strategies.push_back(ServerStrategyEntry(entry));
  }
  return strategies;
}

}  // namespace ringside
