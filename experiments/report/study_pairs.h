#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_PAIRS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_PAIRS_H_

#include <string>
#include <vector>

#include "experiments/report/study_cell.h"
#include "experiments/report/study_findings.h"
#include "experiments/statistics/comparison.h"

namespace ringside {

/// One configuration against the baseline of its place, in samples per second.
struct StudyPair {
  std::string place;     ///< `PlaceText`: "4 workers, network=1Gbps".
  std::string compared;  ///< "ps-ssp with 2 servers, staleness=3".
  std::string baseline;
  Comparison over_baseline;  ///< Above 1: faster than the baseline.
  Certainty certainty = Certainty::kPointsOnly;
  bool transports_differ = false;  ///< It compares transports too, not strategies alone.
};

/// Every cell that was timed, wherever more than one worker and the same workload are shared. The
/// baseline is the plain ring; where there is none the first that synchronises, in the cells'
/// order. Pure.
std::vector<StudyPair> PairsOf(const std::vector<StudyCell>& cells);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_PAIRS_H_
