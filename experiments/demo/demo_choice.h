#ifndef RINGSIDE_EXPERIMENTS_DEMO_DEMO_CHOICE_H_
#define RINGSIDE_EXPERIMENTS_DEMO_DEMO_CHOICE_H_

#include <filesystem>
#include <vector>

#include "ringside/experiments/report/runs/bundle_reader.h"

namespace ringside {

/// The bundles of a study that a page of the demo shows: of the runs that ended well and have a
/// record, a ring and a parameter server that differ in nothing else, with the most workers. One
/// run where there is no such pair; none without records.
std::vector<std::filesystem::path> ChooseDemoRuns(const StudyInput& study);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_DEMO_DEMO_CHOICE_H_
