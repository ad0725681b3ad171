// The table entries whose workers step alone between sums over the ring.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>
#include <string_view>

#include "ring/all_reduce_strategy.h"
#include "ring/collective_table.h"
#include "ring/diloco.h"
#include "ring/local_sgd.h"
#include "ring/ring_strategies.h"

namespace ringside {
namespace {

constexpr std::array<std::string_view, 1> kLocalSgdKeys{"sync-every"};
constexpr std::array<std::string_view, 3> kDilocoKeys{"sync-every", "outer-lr", "outer-momentum"};

std::optional<OptionRefusal> CheckLocalSgd(const StrategyOptions& options, int, int) {
  if (options.sync_every >= 1) return std::nullopt;
  return OptionRefusal{
      "sync-every",
      fmt::format("{} steps between two averages cannot be; give at least 1", options.sync_every)};
}

std::optional<OptionRefusal> CheckDiloco(const StrategyOptions& options, int workers, int servers) {
  if (!(options.outer_lr > 0) || !std::isfinite(options.outer_lr)) {
    return OptionRefusal{"outer-lr",
                         fmt::format("{} moves nothing; give a number above 0", options.outer_lr)};
  }
  if (!(options.outer_momentum >= 0 && options.outer_momentum < 1)) {
    return OptionRefusal{"outer-momentum",
                         fmt::format("{} is outside of 0 <= momentum < 1", options.outer_momentum)};
  }
  return CheckLocalSgd(options, workers, servers);
}

constexpr std::array kSenselessBetweenMeetings{
    KeyReason{"codec",
              "codecs encode the gradient of a step; what many steps made of the parameters is "
              "averaged as fp32"},
    KeyReason{"error-feedback", "no codec makes sense where no gradient of a step travels"},
    KeyReason{"schedule",
              "only one step in sync-every sends anything: an order of buckets would save next to "
              "nothing"},
};

std::string_view OverTcp(const StrategyOptions&, int, int) { return "tcp"; }

template <typename Rule>
std::unique_ptr<Strategy> Make(const StrategyContext& context) {
  const auto connect = [context] {
    return kRingCollective.make(
        {context.world, context.store, context.comm, context.options, "collective/ring"});
  };
  return std::make_unique<AllReduceStrategy>(context, connect, std::make_unique<Rule>(context));
}

}  // namespace

const StrategyEntry kLocalSgdEntry{
    .name = "local-sgd",
    .family = Family::kRing,
    .summary = "workers step alone and average their parameters every H steps (sync-every)",
    .synchronous = false,
    .averaging = Averaging::kOwnBatch,
    .memory = MemoryKind::kOrdinary,
    .make = Make<LocalSgd>,
    .make_server = nullptr,
    .bound = PeriodicRingCost,
    .keys = kLocalSgdKeys,
    .check = CheckLocalSgd,
    .transport = OverTcp,
    .senseless_keys = kSenselessBetweenMeetings,
};

const StrategyEntry kDilocoEntry{
    .name = "diloco",
    .family = Family::kRing,
    .summary = "local-sgd whose averaged progress is taken by an outer Nesterov momentum",
    .synchronous = false,
    .averaging = Averaging::kOwnBatch,
    .memory = MemoryKind::kOrdinary,
    .make = Make<Diloco>,
    .make_server = nullptr,
    .bound = PeriodicRingCost,
    .keys = kDilocoKeys,
    .check = CheckDiloco,
    .transport = OverTcp,
    .senseless_keys = kSenselessBetweenMeetings,
};

}  // namespace ringside
