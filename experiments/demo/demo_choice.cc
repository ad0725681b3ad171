#include "ringside/experiments/demo/demo_choice.h"

#include "ringside/experiments/demo/recorded_run.h"
#include "ringside/experiments/spec/catalog.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

/// Null without one.
const RunResult* MostWorkers(const StudyInput& study, Family family) {
  const RunResult* best = nullptr;
  for (const RunResult& run : study.runs) {
    const StrategyEntry* entry = run.spec.catalog().FindStrategy(run.spec.strategy);
    if (entry == nullptr || entry->traits.family != family) continue;
    if (run.summary.value("status", nlohmann::json()) != kStatusDone) continue;
    if (!fs::exists(fs::path(run.directory) / kChunkFile)) continue;
    if (best == nullptr || run.spec.workers > best->spec.workers) best = &run;
  }
  return best;
}

}  // namespace

std::vector<fs::path> ChooseDemoRuns(const StudyInput& study) {
  std::vector<fs::path> bundles;
  for (const Family family : {Family::kRing, Family::kParameterServer}) {
    if (const RunResult* run = MostWorkers(study, family)) bundles.emplace_back(run->directory);
  }
  return bundles;
}

}  // namespace ringside
