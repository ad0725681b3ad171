#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_VERDICT_PLACES_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_VERDICT_PLACES_H_

#include <string>
#include <vector>

#include "ringside/experiments/report/study/study_findings.h"

namespace ringside {

/// The findings that a verdict rests on. Their owner is the study's table.
using Judged = std::vector<const Finding*>;

/// "1.06x to 1.45x": the ratios from the winners' side.
std::string LeadRange(const Judged& findings);

/// The keys that tell the findings of a study apart, names before numbers. A key whose value
/// follows from another one's says nothing more: the compute time of a model beside the model.
/// There is at least one finding.
std::vector<std::string> TellingKeys(const Judged& findings);

/// How the places of findings are written in a verdict. What several places share is written once.
class Places {
 public:
  /// `all`: the findings of one sentence. `keys` (`TellingKeys`) must outlive this.
  Places(const Judged& all, const std::vector<std::string>& keys);

  /// Only the number of workers tells the places apart.
  bool differ_in_workers_only() const { return keys_.empty() && !media_; }

  /// "with 2 (1.20x) and 8 (1.31x) workers", "with 4 workers at 1 Gbit/s (1.07x) and 3 Gbit/s
  /// (1.01x)", "with 2 and 4 workers, model mlp". `leads`: with the ratio of each.
  std::string Text(const Judged& findings, bool leads) const;

 private:
  std::string WithSameWorkers(const Judged& findings, bool leads) const;
  std::string Label(const Finding& finding) const;

  const std::vector<std::string>& keys_;
  bool same_workers_ = false;
  bool media_ = false;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_VERDICT_PLACES_H_
