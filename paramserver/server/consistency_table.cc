#include "ringside/paramserver/server/consistency_table.h"

#include <string>

namespace ringside {
namespace {

std::unique_ptr<Consistency> MakeSync(const ServerContext& context) {
  return MakeSynchronous(context.workers, context.schedule);
}

std::unique_ptr<Consistency> MakeBackup(const ServerContext& context) {
  return MakeSynchronous(context.workers, context.schedule,
                         static_cast<int>(context.options.Get(kBackups)));
}

std::unique_ptr<Consistency> MakeSsp(const ServerContext& context) {
  return MakeAsynchronous(context.workers, context.schedule,
                          {.staleness_bound = context.options.Get(kStaleness)});
}

std::unique_ptr<Consistency> MakeAsync(const ServerContext& context) {
  return MakeAsynchronous(context.workers, context.schedule,
                          {.staleness_lr = context.options.Get(kStalenessLr)});
}

std::optional<OptionRefusal> CheckBackups(const StrategyOptions& options, int workers, int) {
  const std::int64_t backups = options.Get(kBackups);
  if (backups < workers) return std::nullopt;
  return OptionRefusal{std::string(kBackups.name),
                       std::to_string(backups) + " backups of " + std::to_string(workers) +
                           " workers would leave no gradient to wait for; give at most " +
                           std::to_string(workers - 1)};
}

int PushesWithoutBackups(const StrategyOptions& options, int workers) {
  return workers - static_cast<int>(options.Get(kBackups));
}

StrategyOptions WithoutBackups(StrategyOptions options) {
  options.Set(kBackups, 0);
  return options;
}

StrategyOptions WithoutStalenessLr(StrategyOptions options) {
  options.Set(kStalenessLr, false);
  return options;
}

}  // namespace

std::vector<ConsistencyEntry> ConsistencyTable() {
  return {
      {.name = "ps-sync",
       .summary = "parameter servers that apply a step when all workers have pushed it",
       .make = MakeSync,
       .may_only_sum = true,
       .options = {kServerUpdate}},
      {.name = "mixed",
       .summary = "ps-sync with a server in every worker and dedicated ones; they share the work "
                  "as in BytePS",
       .make = MakeSync,
       .servers = ServerPlacement::kEveryWorker,
       .may_only_sum = true,
       .options = {kServerUpdate}},
      {.name = "ps-backup",
       .summary = "parameter servers that go on without the last pushes of a step",
       .agreement = Agreement::kRelaxed,
       .make = MakeBackup,
       .whole_buckets = true,
       .drops_workers = true,
       .options = {kBackups},
       .awaited_pushes = PushesWithoutBackups,
       .check = CheckBackups,
       .losing_nothing = WithoutBackups},
      {.name = "ps-ssp",
       .summary = "parameter servers that apply every push and hold back workers too far ahead",
       .agreement = Agreement::kRelaxed,
       .make = MakeSsp,
       .drops_workers = true,
       .options = {kStaleness}},
      {.name = "ps-async",
       .summary = "parameter servers that apply every push at once (stale gradients)",
       .agreement = Agreement::kAsynchronous,
       .make = MakeAsync,
       .answers_at_once = true,
       .drops_workers = true,
       .options = {kStalenessLr},
       .losing_nothing = WithoutStalenessLr},
  };
}

}  // namespace ringside
