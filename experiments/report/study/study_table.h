#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_TABLE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_TABLE_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ringside/experiments/report/study/baseline_comparisons.h"
#include "ringside/experiments/report/study/bundle_reader.h"
#include "ringside/experiments/report/study/carrier_comparisons.h"
#include "ringside/experiments/report/study/study_cell.h"
#include "ringside/experiments/report/study/study_claims.h"
#include "ringside/experiments/report/study/study_fidelity.h"
#include "ringside/experiments/report/study/study_findings.h"
#include "ringside/experiments/report/study/study_run.h"

namespace ringside {

/// How a strategy scales: its cells by number of workers, with all else equal.
struct StudyScaling {
  std::string label;               ///< "ps-sync, 2 servers".
  std::vector<std::size_t> cells;  ///< Indices, by workers; at least two.
  /// step_ms = intercept + slope x workers, by least squares over the runs.
  std::optional<double> step_ms_slope;
  std::optional<double> step_ms_intercept;
  std::optional<double> step_ms_r2;
  /// Amdahl's serial fraction that fits the speed-ups best. Only for strong scaling.
  std::optional<double> amdahl_serial_fraction;
};

/// A machine and build on which runs of the study ran.
struct StudyEnvironment {
  std::map<std::string, std::string> values;  ///< "cpu_model", "git", "libraries.gloo", ...
  int runs = 0;
};

/// The accuracy that "time to target" means.
struct StudyTarget {
  std::optional<double> accuracy;  ///< Absent: no run was evaluated.
  std::string origin;              ///< How it was chosen, as text for people.
};

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

/// A results directory as data. Every renderer (text, CSV, JSON, a page) reads this and nothing
/// else.
struct StudyTable {
  std::string name;
  std::vector<std::string> varied_keys;  ///< Besides strategy, workers, servers.
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
  std::vector<StudyEnvironment> environments;        ///< One when all runs shared it.
  std::vector<std::string> environment_differences;  ///< Keys in which they differ.
  std::vector<FailedRun> failed;
  std::vector<BundleProblem> problems;
};

struct StudyOptions {
  std::optional<double> target_accuracy;  ///< 0..1; absent: chosen from the runs.
};

/// True when some row has a transport.
bool HasTransports(const StudyTable& table);

/// True when rows use different transports, so that their times also compare transports.
bool MixesTransports(const StudyTable& table);

/// Makes the table of a study. Pure.
StudyTable MakeStudyTable(const StudyInput& input, const StudyOptions& options = {});

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_TABLE_H_
