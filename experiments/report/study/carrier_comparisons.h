#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_CARRIER_COMPARISONS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_CARRIER_COMPARISONS_H_

#include <string>
#include <vector>

#include "ringside/experiments/report/cells/study_cell.h"
#include "ringside/experiments/report/study/study_findings.h"
#include "ringside/experiments/statistics/comparison.h"

namespace ringside {

/// One configuration whose bytes are carried by another transport, or under another congestion
/// control of TCP, against the same with the defaults. In samples per second.
struct CarrierComparison {
  std::string change;       ///< "over grpc instead of tcp", "under bbr instead of cubic".
  std::string place;        ///< `ScenarioText` of the defaults: "4 workers at 1 Gbit/s".
  std::string strategy;     ///< "ps-sync with 4 servers".
  Comparison over_default;  ///< Above 1: faster than with the defaults.
  Certainty certainty = Certainty::kPointEstimateOnly;
};

/// Compares every timed cell between emulated hosts of which the study has the same configuration
/// with the defaults. Cells whose runs the machine all limited take no part. Pure.
std::vector<CarrierComparison> CarrierComparisonsOf(const std::vector<StudyCell>& cells);

/// A sentence for each change. Pure.
std::vector<std::string> CarrierSentences(const std::vector<CarrierComparison>& comparisons);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_CARRIER_COMPARISONS_H_
