#include "experiments/strategy_table.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "common/none_strategy.h"
#include "experiments/find_program.h"
#include "paramserver/ps_strategies.h"
#include "ring/ring_strategies.h"

namespace ringside {
namespace {

constexpr std::array kTable{
    &kNoneEntry,    &kRingEntry,  &kHalvingDoublingEntry, &kRecursiveDoublingEntry,
    &kTreeEntry,    &kShmEntry,   &kHierarchicalEntry,    &kAutoEntry,
    &kMpiEntry,     &kNcclEntry,  &kLocalSgdEntry,        &kDilocoEntry,
    &kPsSyncEntry,  &kMixedEntry, &kPsBackupEntry,        &kPsSspEntry,
    &kPsAsyncEntry,
};

/// This process is a rank already, or a child of one.
bool StartedByMpirun() { return std::getenv("PMIX_NAMESPACE") != nullptr; }

}  // namespace

std::span<const StrategyEntry* const> StrategyTable() { return kTable; }

const StrategyEntry* FindStrategy(std::string_view name) {
  const auto found =
      std::ranges::find(kTable, name, [](const StrategyEntry* entry) { return entry->name; });
  return found == kTable.end() ? nullptr : *found;
}

std::string WhyUnavailable(const StrategyEntry& entry) {
  if (entry.unavailable != nullptr) {
    const std::string reason = entry.unavailable();
    if (!reason.empty()) return reason;
  }
  if (entry.ranks == Ranks::kMpiProcesses && !StartedByMpirun() && FindProgram("mpirun").empty()) {
    return "mpirun, which has to start its workers, is not in PATH; install openmpi-bin";
  }
  return {};
}

}  // namespace ringside
