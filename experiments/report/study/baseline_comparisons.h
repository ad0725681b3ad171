#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_BASELINE_COMPARISONS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_BASELINE_COMPARISONS_H_

#include <string>
#include <vector>

#include "ringside/experiments/report/cells/study_cell.h"
#include "ringside/experiments/report/study/study_findings.h"
#include "ringside/experiments/statistics/comparison.h"

namespace ringside {

/// One configuration against the baseline of its scenario, in samples per second.
struct BaselineComparison {
  std::string place;     ///< `ScenarioText`: "4 workers at 1 Gbit/s".
  std::string compared;  ///< "ps-ssp with 2 servers, staleness 3".
  std::string baseline;
  Comparison over_baseline;  ///< Above 1: faster than the baseline.
  Certainty certainty = Certainty::kPointEstimateOnly;
  bool transports_differ = false;  ///< The two also use different transports.
};

/// Compares every timed cell with the baseline of the same workload and number of workers, if that
/// number is above one. The baseline is the plain ring, or else the first synchronous strategy in
/// the cells' order. Cells whose runs the machine all limited take no part. Pure.
std::vector<BaselineComparison> BaselineComparisonsOf(const std::vector<StudyCell>& cells);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_BASELINE_COMPARISONS_H_
