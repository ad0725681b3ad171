#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_FINDINGS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_FINDINGS_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ringside/experiments/statistics/comparison.h"

namespace ringside {

/// How far a finding can be trusted.
enum class Certainty {
  kClear,              ///< The interval of the ratio does not contain 1.
  kUnclear,            ///< The interval contains 1: the runs show no difference.
  kPointEstimateOnly,  ///< Fewer than five pairs of runs: no interval.
};

/// "clear", "unclear", "points only".
const char* CertaintyName(Certainty certainty);

/// The certainty of a comparison, by whether its interval contains 1.
Certainty CertaintyOf(const Comparison& comparison);

/// The best of the parameter servers against the best of the rings, at the same number of workers
/// and with the same workload: over one medium, or over transports that differ.
struct Finding {
  int workers = 0;
  std::map<std::string, std::string> varied;  ///< The keys that both sides share.
  bool synchronous_only = false;              ///< The choice left out relaxed strategies.
  std::string medium;                         ///< What both use; empty if unknown or different.
  std::size_t ps_cell = 0;                    ///< Index into `StudyTable::cells`.
  std::size_t ring_cell = 0;
  std::string metric;       ///< "samples_per_s": more is better.
  std::string winner;       ///< "ring", "parameter server"; "neither" if unclear.
  Comparison ring_over_ps;  ///< The metric's ratio: above 1 the ring is faster.
  Certainty certainty = Certainty::kPointEstimateOnly;
  bool transports_differ = false;  ///< The two also use different transports.
  std::string sentence;            ///< The finding, with its certainty.
};

/// The conclusion of a study in one sentence.
struct StudyVerdict {
  std::string winner;  ///< "ring", "parameter server", "depends", "neither", "none".
  Certainty certainty = Certainty::kPointEstimateOnly;  ///< The weakest among its findings.
  std::string sentence;
  std::vector<std::string> caveats;  ///< One sentence each.
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_FINDINGS_H_
