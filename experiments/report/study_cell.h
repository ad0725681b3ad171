#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_CELL_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_CELL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/report/study_run.h"
#include "experiments/statistics/interval.h"

namespace ringside {

/// One line of a study: all repetitions of one configuration. Every number is the median over the
/// repetitions that are done; absent where no run gave it.
struct StudyCell {
  std::string strategy;
  std::string family;  ///< "none", "ring", "parameter server"; empty: not in this build.
  bool synchronous = false;
  int workers = 0;
  int servers = 0;
  bool colocated = false;
  std::string transport;  ///< `TransportOf` (transport.h); empty where nothing travels.
  std::map<std::string, std::string> varied;  ///< Other keys that the study varies, as text.
  std::string scaling;                        ///< "strong": fixed global batch; "weak": a worker's.
  std::int64_t global_batch = 0;
  bool emulated_compute = false;  ///< Compute time was waited for.
  std::string configuration;      ///< The resolved spec without seed and repetition, as JSON.
  int runs = 0;                   ///< Done.
  int failed = 0;
  std::vector<StudyRun> results;  ///< All of them, by repetition and seed.

  std::optional<double> step_ms;
  std::optional<double> compute_ms;
  std::optional<double> exposed_comm_ms;
  std::optional<double> samples_per_s;
  std::optional<double> speedup;     ///< Over the baseline, in samples per second.
  std::optional<double> efficiency;  ///< Speed-up / workers.
  /// Karp and Flatt's experimentally determined serial fraction, of the speed-up. Absent with one
  /// worker.
  std::optional<double> serial_fraction;
  std::string baseline;  ///< "none, 1 worker": the best single worker that compares.
  std::optional<double> bytes_per_step;  ///< Sent by a worker process in a step, on its sockets.
  std::optional<double> bound_bytes_per_step;  ///< The least that theory allows, on the same NIC.
  std::optional<double> bound_comm_ms;         ///< Communication's part of the next.
  std::optional<double> bound_ms;              ///< Where a link was declared.
  std::optional<double> bound_ratio;           ///< Step time over bound.
  std::optional<double> straggler_ms;          ///< Injected, mean over ranks and steps.
  std::optional<double> buckets;
  std::optional<double> cores_busy;      ///< Share of the cores' time that was not idle.
  std::optional<double> accuracy;        ///< 0..1, held out, at the end.
  std::optional<double> loss;            ///< Of the last step's training samples.
  std::optional<double> staleness_mean;  ///< Versions.
  std::optional<double> core_seconds_per_sample;
  std::optional<double> nic_bytes_per_sample;
  std::optional<double> nic_bytes_per_sample_servers;
  std::optional<double> cpu_seconds_workers;
  std::optional<double> cpu_seconds_servers;
  std::optional<double> peak_rss_bytes;
  /// Medians over runs, a run that never got there counting as infinitely long: absent when half of
  /// them did not.
  std::optional<double> seconds_to_target;
  std::optional<double> epochs_to_target;
  std::optional<double> samples_to_target;
  int reached_target = 0;  ///< Runs.

  /// Bootstrap intervals of the numbers above by their names in JSON ("step_ms"). A name is absent
  /// with fewer than `StudyMethod::minimum_runs` runs.
  std::map<std::string, ConfidenceInterval> intervals;
  /// Step time against bound: "above" (over 1.15: wants an explanation), "below" (under 1.00: one
  /// of the two is wrong), empty.
  std::string bound_flag;
  /// Why, as far as the runs recorded it (`ExplainBound`); of a cell with links and without a
  /// bound, why there is none. Empty where nothing wants a word.
  std::string bound_explanation;
  bool bound_explained = true;  ///< False: it is flagged and the record does not account for it.
  std::string bound_missing;
  std::optional<CriticalPath> critical_path;       ///< Medians over runs, each by itself.
  std::map<std::int64_t, std::int64_t> staleness;  ///< Summed over runs.
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_CELL_H_
