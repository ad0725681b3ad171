#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_FINDINGS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_FINDINGS_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ringside/experiments/report/study/study_ties.h"
#include "ringside/experiments/statistics/comparison.h"

namespace ringside {

/// The best of the parameter servers against the best of the rings, at the same number of workers
/// and with the same workload: over one medium, or over transports that differ.
struct Finding {
  int workers = 0;
  std::map<std::string, std::string> varied;      ///< The keys that both sides share.
  std::map<std::string, std::string> conditions;  ///< The same in words (`ConditionText`).
  bool synchronous_only = false;                  ///< The choice left out relaxed strategies.
  std::string medium;                             ///< What both use; empty if unknown or different.
  int server_hosts = 0;     ///< Hosts that the servers have besides the workers' hosts.
  std::size_t ps_cell = 0;  ///< Index into `StudyTable::cells`.
  std::size_t ring_cell = 0;
  std::string metric;       ///< "samples_per_s": more is better.
  std::string winner;       ///< "ring", "parameter server"; "neither" if the two tie.
  Comparison ring_over_ps;  ///< The metric's ratio: above 1 the ring is faster.
  Certainty certainty = Certainty::kPointEstimateOnly;
  bool transports_differ = false;  ///< The two also use different transports.
  std::string sentence;            ///< The finding, with its certainty.
};

/// The conclusion of a study.
struct StudyVerdict {
  std::string winner;  ///< "ring", "parameter server", "depends", "neither" (a tie), "none".
  Certainty certainty = Certainty::kPointEstimateOnly;  ///< The weakest among its findings.
  std::string sentence;  ///< One for each kind of servers (`VerdictOf`).
  /// Who is ahead where, if `sentence` only counts. Then what another transport or congestion
  /// control changes. One sentence each.
  std::vector<std::string> details;
  std::vector<std::string> caveats;  ///< One sentence each.
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_FINDINGS_H_
