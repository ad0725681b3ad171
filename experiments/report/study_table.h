#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_TABLE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_TABLE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/report/bundle_reader.h"

namespace ringside {

/// One line of a study: all repetitions of one configuration. Every number is the median over the
/// repetitions that are done; absent where no run gave it.
struct StudyCell {
  std::string strategy;
  int workers = 0;
  int servers = 0;
  bool colocated = false;
  std::string transport;  ///< Between workers and servers; empty without servers.
  std::map<std::string, std::string> varied;  ///< Other keys that the study varies, as text.
  int runs = 0;                               ///< Done.
  int failed = 0;

  std::optional<double> step_ms;
  std::optional<double> exposed_comm_ms;
  std::optional<double> samples_per_s;
  std::optional<double> speedup;     ///< Over the baseline, in samples per second.
  std::optional<double> efficiency;  ///< Speed-up / workers.
  std::string baseline;              ///< "none, 1 worker": the best single worker that compares.
  std::optional<double> bytes_per_step;  ///< Sent by a worker process in a step, on its sockets.
  std::optional<double> bound_bytes_per_step;  ///< The least that theory allows, on the same NIC.
  std::optional<double> bound_ms;              ///< Where a link was declared.
  std::optional<double> bound_ratio;           ///< Step time over bound.
  std::optional<double> accuracy;              ///< 0..1, held out, at the end.
  std::optional<double> loss;                  ///< Of the last step's training samples.
  std::optional<double> staleness_mean;        ///< Versions.
};

struct FailedRun {
  std::string directory;
  std::string label;
  std::string status;
  std::string error;
};

/// A results directory as data: what every renderer (text, CSV, JSON, a page) reads, and all that
/// it needs.
struct StudyTable {
  std::string name;
  std::vector<std::string> varied_keys;  ///< Besides strategy, workers, servers.
  std::vector<StudyCell> cells;  ///< By varied keys, then in the strategy table's order, workers.
  std::vector<FailedRun> failed;
  std::vector<BundleProblem> problems;
};

/// Rows over different transports: their times compare transports too, not strategies alone.
bool MixesTransports(const StudyTable& table);

/// Pure.
StudyTable MakeStudyTable(const StudyInput& input);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_TABLE_H_
