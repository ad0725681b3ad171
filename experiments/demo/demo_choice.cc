#include "ringside/experiments/demo/demo_choice.h"

#include <algorithm>
#include <functional>

#include "ringside/experiments/demo/recorded_run.h"
#include "ringside/experiments/spec/catalog.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

std::vector<const RunResult*> Recorded(const StudyInput& study, Family family) {
  std::vector<const RunResult*> runs;
  for (const RunResult& run : study.runs) {
    const StrategyEntry* entry = run.spec.catalog().FindStrategy(run.spec.strategy);
    if (entry == nullptr || entry->traits.family != family) continue;
    if (run.summary.value("status", nlohmann::json()) != kStatusDone) continue;
    if (fs::exists(fs::path(run.directory) / kChunkFile)) runs.push_back(&run);
  }
  // Of equally many workers, the first run of the study.
  std::ranges::stable_sort(runs, std::greater(),
                           [](const RunResult* run) { return run->spec.workers; });
  return runs;
}

/// Whether the two differ in the strategy alone.
bool Alike(const RunResult& a, const RunResult& b) {
  for (const char* key : {"model", "program", "dataset", "workers", "codec", "straggler", "network",
                          "global_batch", "emulated_compute_ms"}) {
    if (a.summary.value(key, nlohmann::json()) != b.summary.value(key, nlohmann::json())) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<fs::path> ChooseDemoRuns(const StudyInput& study) {
  const std::vector<const RunResult*> rings = Recorded(study, Family::kRing);
  const std::vector<const RunResult*> servers = Recorded(study, Family::kParameterServer);
  for (const RunResult* ring : rings) {
    for (const RunResult* server : servers) {
      if (Alike(*ring, *server)) return {ring->directory, server->directory};
    }
  }
  if (!rings.empty()) return {rings.front()->directory};
  if (!servers.empty()) return {servers.front()->directory};
  return {};
}

}  // namespace ringside
