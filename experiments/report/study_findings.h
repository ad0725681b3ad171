#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_FINDINGS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_FINDINGS_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/statistics/comparison.h"

namespace ringside {

/// How far a finding can be trusted.
enum class Certainty {
  kClear,       ///< The interval of the ratio leaves out 1.
  kUnclear,     ///< The interval holds 1: the runs do not tell them apart.
  kPointsOnly,  ///< Fewer than five pairs of runs: no interval.
};

/// "clear", "unclear", "points only".
const char* CertaintyName(Certainty certainty);

/// By whether the interval holds 1.
Certainty CertaintyOf(const Comparison& comparison);

/// The best of the parameter servers against the best of the rings, at the same number of workers
/// and with the same workload.
struct Finding {
  int workers = 0;
  std::map<std::string, std::string> varied;  ///< The keys that both sides share.
  bool synchronous_only = false;              ///< Relaxed strategies were left out of the choice.
  std::size_t ps_cell = 0;                    ///< Index into `StudyTable::cells`.
  std::size_t ring_cell = 0;
  std::string metric;       ///< "samples_per_s": more is better.
  std::string winner;       ///< "ring", "parameter server"; "neither" where it is unclear.
  Comparison ring_over_ps;  ///< Of the metric: above 1 the ring is faster.
  Certainty certainty = Certainty::kPointsOnly;
  bool transports_differ = false;  ///< It compares transports too, not strategies alone.
  std::string sentence;            ///< With how sure it is.
};

/// What a study says in a sentence.
struct StudyVerdict {
  std::string winner;  ///< "ring", "parameter server", "depends", "neither", "none".
  Certainty certainty = Certainty::kPointsOnly;  ///< The weakest of the findings it stands on.
  std::string sentence;
  std::vector<std::string> caveats;  ///< Each a sentence.
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_FINDINGS_H_
