#include "experiments/strategy_table.h"

#include <algorithm>
#include <array>

#include "common/none_strategy.h"
#include "paramserver/ps_strategies.h"
#include "ring/ring_strategies.h"

namespace ringside {
namespace {

constexpr std::array kTable{
    &kNoneEntry,  &kRingEntry,     &kHalvingDoublingEntry, &kRecursiveDoublingEntry,
    &kTreeEntry,  &kLocalSgdEntry, &kDilocoEntry,          &kPsSyncEntry,
    &kMixedEntry, &kPsBackupEntry, &kPsSspEntry,           &kPsAsyncEntry,
};

}  // namespace

std::span<const StrategyEntry* const> StrategyTable() { return kTable; }

const StrategyEntry* FindStrategy(std::string_view name) {
  const auto found =
      std::ranges::find(kTable, name, [](const StrategyEntry* entry) { return entry->name; });
  return found == kTable.end() ? nullptr : *found;
}

}  // namespace ringside
