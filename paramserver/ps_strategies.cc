#include "paramserver/ps_strategies.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "paramserver/consistency.h"
#include "paramserver/ps_server.h"
#include "paramserver/ps_strategy.h"
#include "paramserver/wire_codec.h"

namespace ringside {
namespace {

using MakeConsistencyFor = std::unique_ptr<Consistency> (*)(const ServerContext& context);

std::unique_ptr<Consistency> ApplyTheSumOfAStep(const ServerContext& context) {
  return MakeSynchronous(context.workers, context.schedule);
}

std::unique_ptr<Consistency> ApplyWithoutTheLast(const ServerContext& context) {
  return MakeSynchronous(context.workers, context.schedule, context.options.backups);
}

std::unique_ptr<Consistency> ApplyEveryPush(const ServerContext& context) {
  return MakeAsynchronous(context.workers, context.schedule,
                          {.staleness_lr = context.options.staleness_lr});
}

std::unique_ptr<Consistency> ApplyEveryPushWithinABound(const ServerContext& context) {
  return MakeAsynchronous(context.workers, context.schedule,
                          {.staleness_bound = context.options.staleness});
}

std::unique_ptr<Strategy> MakeWorker(const StrategyContext& context) {
  return std::make_unique<PsStrategy>(context);
}

template <MakeConsistencyFor make>
std::unique_ptr<Server> MakeServer(const ServerContext& context) {
  return std::make_unique<PsServer>(context, [context] { return make(context); });
}

constexpr std::array<std::string_view, 4> kSyncKeys{"ps-transport", "schedule", "codec",
                                                    "error-feedback"};
constexpr std::array<std::string_view, 5> kAsyncKeys{"ps-transport", "schedule", "codec",
                                                     "error-feedback", "staleness-lr"};
constexpr std::array<std::string_view, 5> kSspKeys{"ps-transport", "schedule", "codec",
                                                   "error-feedback", "staleness"};
constexpr std::array<std::string_view, 5> kBackupKeys{"ps-transport", "schedule", "codec",
                                                      "error-feedback", "backups"};

std::optional<OptionRefusal> CheckCodec(const StrategyOptions& options, int, int) {
  return CheckServerCodec(options);
}

std::optional<OptionRefusal> CheckStaleness(const StrategyOptions& options, int, int) {
  if (options.staleness >= 0) return CheckServerCodec(options);
  return OptionRefusal{"staleness",
                       "a bound of " + std::to_string(options.staleness) +
                           " steps cannot be kept; give 0 (wait for all workers) or more"};
}

std::optional<OptionRefusal> CheckBackups(const StrategyOptions& options, int workers, int) {
  const std::string backups = std::to_string(options.backups);
  if (options.backups < 0) {
    return OptionRefusal{"backups", backups + " backups cannot be; give 0 or more"};
  }
  if (options.backups < workers) return CheckServerCodec(options);
  return OptionRefusal{"backups",
                       backups + " backups of " + std::to_string(workers) +
                           " workers would leave no gradient to wait for; give at most " +
                           std::to_string(workers - 1)};
}

}  // namespace

const StrategyEntry kPsSyncEntry{
    .name = "ps-sync",
    .family = Family::kParameterServer,
    .summary = "parameter servers that apply a step when all workers have pushed it",
    .synchronous = true,
    .averaging = Averaging::kGlobalBatch,
    .memory = MemoryKind::kOrdinary,
    .make = MakeWorker,
    .make_server = MakeServer<ApplyTheSumOfAStep>,
    .bound = ParameterServerCost,
    .keys = kSyncKeys,
    .check = CheckCodec,
};

const StrategyEntry kMixedEntry{
    .name = "mixed",
    .family = Family::kParameterServer,
    .summary = "ps-sync with a server in every worker and spare ones, in the proportion of BytePS",
    .synchronous = true,
    .averaging = Averaging::kGlobalBatch,
    .memory = MemoryKind::kOrdinary,
    .make = MakeWorker,
    .make_server = MakeServer<ApplyTheSumOfAStep>,
    .bound = MixedServerCost,
    .keys = kSyncKeys,
    .check = CheckCodec,
    .spare_servers = true,
};

const StrategyEntry kPsAsyncEntry{
    .name = "ps-async",
    .family = Family::kParameterServer,
    .summary = "parameter servers that apply every push at once (stale gradients)",
    .synchronous = false,
    .averaging = Averaging::kGlobalBatch,
    .memory = MemoryKind::kOrdinary,
    .make = MakeWorker,
    .make_server = MakeServer<ApplyEveryPush>,
    .bound = ParameterServerCost,
    .keys = kAsyncKeys,
    .check = CheckCodec,
};

const StrategyEntry kPsSspEntry{
    .name = "ps-ssp",
    .family = Family::kParameterServer,
    .summary = "parameter servers that apply every push and hold back workers too far ahead",
    .synchronous = false,
    .averaging = Averaging::kGlobalBatch,
    .memory = MemoryKind::kOrdinary,
    .make = MakeWorker,
    .make_server = MakeServer<ApplyEveryPushWithinABound>,
    .bound = ParameterServerCost,
    .keys = kSspKeys,
    .check = CheckStaleness,
};

const StrategyEntry kPsBackupEntry{
    .name = "ps-backup",
    .family = Family::kParameterServer,
    .summary = "parameter servers that go on without the last pushes of a step",
    .synchronous = false,
    .averaging = Averaging::kGlobalBatch,
    .memory = MemoryKind::kOrdinary,
    .make = MakeWorker,
    .make_server = MakeServer<ApplyWithoutTheLast>,
    .bound = ParameterServerCost,
    .keys = kBackupKeys,
    .check = CheckBackups,
};

}  // namespace ringside
