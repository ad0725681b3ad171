#include "ringside/experiments/report/cells/study_target.h"

#include <fmt/format.h>

#include <algorithm>

#include "ringside/experiments/report/runs/study_runs.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/statistics/quantile.h"

namespace ringside {
namespace {

constexpr double kShareOfBest = 0.95;

using Group = std::vector<const RunResult*>;

bool IsLimitedRun(const RunResult& run) {
  const std::optional<RunFidelity> fidelity = ReadFidelity(run.summary);
  return fidelity && fidelity->verdict != FidelityVerdict::kOk;
}

std::optional<double> FinalAccuracy(const Group& runs, bool with_limited) {
  std::vector<double> values;
  for (const RunResult* run : runs) {
    if (!with_limited && IsLimitedRun(*run)) continue;
    const std::optional<double> accuracy = NumberAt(run->summary, "/eval_accuracy");
    if (accuracy && run->summary["status"] == "done") values.push_back(*accuracy);
  }
  return Median(std::move(values));
}

bool IsSynchronous(const Group& runs) {
  const RunSpec& spec = runs.front()->spec;
  const StrategyEntry* entry = spec.catalog().FindStrategy(spec.strategy);
  return entry != nullptr && entry->traits.synchronous();
}

std::optional<double> Best(const std::vector<Group>& groups, bool synchronous_only,
                           bool with_limited) {
  std::optional<double> best;
  for (const Group& runs : groups) {
    if (synchronous_only && !IsSynchronous(runs)) continue;
    const std::optional<double> accuracy = FinalAccuracy(runs, with_limited);
    if (accuracy) best = std::max(best.value_or(0), *accuracy);
  }
  return best;
}

}  // namespace

StudyTarget ChooseTarget(const std::vector<Group>& groups, const StudyOptions& options) {
  if (options.target_accuracy) return {options.target_accuracy, "asked for"};
  const auto share = [](double best, const char* of, const char* note) -> StudyTarget {
    return {best * kShareOfBest,
            fmt::format("{:.0f} % of the best final accuracy of {}, {:.2f} %{}", kShareOfBest * 100,
                        of, best * 100, note)};
  };
  for (const bool with_limited : {false, true}) {
    const char* note = with_limited ? "; the machine limited every run that was evaluated" : "";
    if (const auto best = Best(groups, true, with_limited)) {
      return share(*best, "a synchronous strategy", note);
    }
    if (const auto best = Best(groups, false, with_limited)) {
      return share(*best, "any strategy", note);
    }
  }
  return {std::nullopt, "no run was evaluated"};
}

}  // namespace ringside
