#ifndef RINGSIDE_EXPERIMENTS_REPORT_CELLS_STUDY_CONSTANTS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_CELLS_STUDY_CONSTANTS_H_

#include <string>
#include <vector>

#include "ringside/experiments/report/runs/bundle_reader.h"

namespace ringside {

/// What all runs of a study share, in words: "model profile:resnet50", "100 ms of compute",
/// "at 1 Gbit/s". Names only what decides how fast a run is or how well it learns. A report says
/// these once, so that no sentence has to repeat them. Pure.
std::vector<std::string> ConstantsOf(const std::vector<RunResult>& runs);

/// "All runs: model mlp, 64 samples a step."; empty without constants. Pure.
std::string ConstantsText(const std::vector<std::string>& constants);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_CELLS_STUDY_CONSTANTS_H_
