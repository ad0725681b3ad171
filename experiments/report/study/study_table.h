#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_TABLE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_TABLE_H_

#include <optional>
#include <string>
#include <vector>

#include "ringside/experiments/report/cells/study_cell.h"
#include "ringside/experiments/report/cells/study_environments.h"
#include "ringside/experiments/report/cells/study_fidelity.h"
#include "ringside/experiments/report/cells/study_scaling.h"
#include "ringside/experiments/report/cells/study_target.h"
#include "ringside/experiments/report/runs/bundle_reader.h"
#include "ringside/experiments/report/runs/study_run.h"
#include "ringside/experiments/report/study/baseline_comparisons.h"
#include "ringside/experiments/report/study/carrier_comparisons.h"
#include "ringside/experiments/report/study/study_claims.h"
#include "ringside/experiments/report/study/study_findings.h"

namespace ringside {

/// How the figures were made.
struct StudyMethod {
  std::string interval = "percentile bootstrap over runs";
  double confidence = 0.95;
  int resamples = 10'000;
  int minimum_runs = 5;  ///< Needed for an interval.
  std::string outliers;
  std::string warmup;
  std::string fidelity;  ///< What a limited run is; empty if no run was on an emulated network.
  std::string dilation;  ///< What dilated time is; empty if every factor is 1.
  std::vector<std::string> warnings;  ///< Short warm-ups, links not as requested, limited runs.
};

struct FailedRun {
  std::string directory;
  std::string label;
  std::string status;
  std::string error;
  std::string kind{};        ///< Of the failure, by `FailureKindName`; empty if no member failed.
  std::string last_words{};  ///< What the workers last said that they were doing; may be empty.
};

/// What went wrong in a run and did not end it: a generation failed, the run went on without a lost
/// worker, or a worker or server was slow or silent.
struct RunIncident {
  std::string directory;
  std::string label;
  std::string text;
  std::string last_words{};  ///< As in `FailedRun`.
};

/// A results directory as data. Every renderer (text, CSV, JSON, a page) reads this and nothing
/// else.
struct StudyTable {
  std::string name;
  std::vector<std::string> varied_keys;  ///< Besides strategy, workers, servers.
  std::vector<std::string> constants;    ///< What all runs share, in words (`ConstantsOf`).
  std::vector<StudyCell> cells;  ///< By varied keys, then in the strategy table's order, workers.
  std::vector<StudyScaling> scaling;
  std::vector<Finding> findings;
  std::vector<Claim> claims;
  std::vector<BaselineComparison> pairs;
  std::vector<CarrierComparison> carriers;
  StudyVerdict verdict;
  StudyTarget target;
  StudyMethod method;
  StudyDilation dilation;
  std::vector<RunIncident> incidents;
  std::vector<StudyEnvironment> environments;        ///< One when all runs shared it.
  std::vector<std::string> environment_differences;  ///< Keys in which they differ.
  std::vector<FailedRun> failed;
  std::vector<BundleProblem> problems;
  std::string demo_page = {};  ///< A page beside the report that replays two runs; empty: none.
};

/// True when some row has a transport.
bool HasTransports(const StudyTable& table);

/// True when rows use different transports, so that their times also compare transports.
bool MixesTransports(const StudyTable& table);

/// Makes the table of a study. Pure.
StudyTable MakeStudyTable(const StudyInput& input, const StudyOptions& options = {});

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_TABLE_H_
