#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ringside/experiments/report/cells/study_fidelity.h"
#include "ringside/experiments/report/study/study_judgement.h"

namespace ringside {
namespace {

constexpr std::int64_t kFewSteps = 3;

int CountRuns(const StudyTable& table, bool (*wanted)(const StudyRun&)) {
  int count = 0;
  for (const StudyCell& cell : table.cells) {
    count += static_cast<int>(std::ranges::count_if(cell.results, wanted));
  }
  return count;
}

std::size_t CountCells(const StudyTable& table, std::string_view flag) {
  return static_cast<std::size_t>(std::ranges::count_if(
      table.cells, [&](const StudyCell& cell) { return cell.bound_flag == flag; }));
}

std::string OneOrMany(std::size_t count, const char* one, const char* many) {
  return count == 1 ? fmt::format("1 {}", one) : fmt::format("{} {}", count, many);
}

void WarnOfFidelity(const StudyTable& table, std::vector<std::string>& warnings) {
  std::vector<const StudyRun*> limited;
  for (const StudyCell& cell : table.cells) {
    for (const StudyRun* run : DoneRuns(cell)) {
      if (IsLimited(*run)) limited.push_back(run);
    }
  }
  if (!limited.empty()) {
    const std::string causes = LimitsText(limited);
    warnings.push_back(
        OneOrMany(limited.size(),
                  "run was limited by the machine, or may have been, and takes no part in "
                  "verdicts",
                  "runs were limited by the machine, or may have been, and take no part in "
                  "verdicts") +
        (causes.empty() ? "" : ": " + causes));
  }
  const auto mixed = std::ranges::count_if(table.cells, [](const StudyCell& cell) {
    return DilationText(cell).find(" to ") != std::string::npos;
  });
  if (mixed > 0) {
    warnings.push_back(OneOrMany(static_cast<std::size_t>(mixed),
                                 "configuration has runs with different dilation factors",
                                 "configurations have runs with different dilation factors"));
  }
}

bool HasFidelity(const StudyTable& table) {
  return CountRuns(table, [](const StudyRun& run) { return run.fidelity.has_value(); }) > 0;
}

}  // namespace

StudyMethod MethodOf(const StudyTable& table) {
  StudyMethod method;
  method.outliers =
      "marked where a run's step time lies more than 3.5 robust standard deviations (1.4826 x MAD) "
      "from its cell's median, with five runs or more; never dropped";
  method.warmup =
      "each run leaves out the first steps that its spec declares (warmup_steps); then it also "
      "leaves out the last step, which waits for two communications, because the first waits for "
      "none. The runs also have the number of steps that MSER-5 would leave out by rank 0's step "
      "times. A run is named if that changes its mean step time by more than 1 %";
  if (HasFidelity(table)) {
    method.fidelity =
        "a run on emulated hosts is limited when the machine was too slow for it: too little idle "
        "processor time, late wake-ups or lost packets. A run also counts as limited if that could "
        "not be judged, or if one of its links was not as asked. It is marked in every table. It "
        "takes part in no verdict, claim, fit or comparison. A configuration's numbers come from "
        "its other runs, or from all of them if every run is limited";
  }
  if (HasDilation(table.cells)) {
    method.dilation =
        "the runs' clock goes slower than the machine's by the factor. Times, rates and bounds are "
        "in this dilated time. Whole runs, start-up and the machine's step are in the machine's "
        "time";
  }
  const auto warn = [&](std::size_t count, const char* one, const char* many) {
    if (count > 0) method.warnings.push_back(OneOrMany(count, one, many));
  };
  const auto runs = [&](bool (*wanted)(const StudyRun&)) {
    return static_cast<std::size_t>(CountRuns(table, wanted));
  };
  warn(runs([](const StudyRun& run) { return run.link_ok == false; }),
       "run had a link that was not as asked", "runs had links that were not as asked");
  WarnOfFidelity(table, method.warnings);
  warn(runs([](const StudyRun& run) { return run.timed_steps.value_or(kFewSteps) < kFewSteps; }),
       "run's times come from one or two steps only",
       "runs' times come from one or two steps only");
  warn(runs([](const StudyRun& run) { return run.warmup_short; }),
       "run still warmed up after the steps that are left out, by MSER-5",
       "runs still warmed up after the steps that are left out, by MSER-5");
  warn(runs([](const StudyRun& run) { return run.outlier; }), "run is marked as an outlier",
       "runs are marked as outliers");
  warn(table.failed.size(), "run did not finish well", "runs did not finish well");
  warn(CountCells(table, "above"),
       "cell takes more than 1.15 times its bound or 1.05 times its achievable step",
       "cells take more than 1.15 times their bounds or 1.05 times their achievable steps");
  warn(CountCells(table, "below"), "cell is faster than its bound: one of the two is wrong",
       "cells are faster than their bounds: one of the two is wrong");
  return method;
}

}  // namespace ringside
