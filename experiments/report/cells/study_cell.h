#ifndef RINGSIDE_EXPERIMENTS_REPORT_CELLS_STUDY_CELL_H_
#define RINGSIDE_EXPERIMENTS_REPORT_CELLS_STUDY_CELL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ringside/common/strategy/option.h"
#include "ringside/common/strategy/strategy_traits.h"
#include "ringside/experiments/report/runs/study_run.h"
#include "ringside/experiments/statistics/interval.h"

namespace ringside {

/// One row of a study: all repetitions of one configuration. Every number is the median over the
/// finished repetitions that the machine did not limit (`CountedRuns`); absent when no run has it.
struct StudyCell {
  std::string strategy;
  std::string family;  ///< "none", "ring", "parameter server"; empty: not in this program.
  bool synchronous = false;
  /// The strategy's traits; absent when it is not in this program.
  std::optional<StrategyTraits> traits;
  std::size_t place_in_catalog = 0;  ///< The strategy's index; unknown ones come last.
  int workers = 0;
  int servers = 0;
  bool colocated = false;
  /// Emulated hosts that have dedicated servers alone. Another strategy does not need them.
  int server_hosts = 0;
  std::string transport;  ///< `TransportOf` (transport.h); empty without communication.
  std::string medium;     ///< What the transport uses.
  /// An option of the strategy chose a transport other than the default.
  bool transport_chosen = false;
  std::string congestion;  ///< TCP's congestion control on emulated hosts; empty without them.
  /// `configuration` without the transport and the congestion control: equal for cells that differ
  /// only in what carries their bytes.
  std::string carried;
  std::map<std::string, std::string> varied;      ///< Other keys that the study varies, as text.
  std::map<std::string, std::string> conditions;  ///< The same by `ConditionText`.
  /// The keys of `varied` that are options of strategies, and those that this strategy reads.
  std::map<std::string, OptionRole> varied_options;
  std::set<std::string> own_options;
  std::string scaling;  ///< "strong": fixed global batch; "weak": fixed batch per worker.
  std::int64_t global_batch = 0;
  bool emulated_compute = false;  ///< Compute time was a wait.
  std::string configuration;      ///< The resolved spec without seed and repetition, as JSON.
  int runs = 0;                   ///< Finished runs.
  int failed = 0;
  int limited = 0;                ///< Finished runs that the machine limited.
  std::vector<StudyRun> results;  ///< All runs, by repetition and seed.

  std::optional<double> step_ms;
  std::optional<double> compute_ms;
  std::optional<double> exposed_comm_ms;
  std::optional<double> samples_per_s;
  std::optional<double> speedup;     ///< Over the baseline, in samples per second.
  std::optional<double> efficiency;  ///< Speed-up / workers.
  /// Karp and Flatt's experimentally determined serial fraction, from the speed-up. Absent with one
  /// worker.
  std::optional<double> serial_fraction;
  std::string baseline;                  ///< "none, 1 worker": the best comparable single worker.
  std::optional<double> bytes_per_step;  ///< Sent by a worker process in a step, on its sockets.
  std::optional<double> bound_bytes_per_step;  ///< The theoretical minimum on the same NIC.
  std::optional<double> bound_comm_ms;         ///< The communication part of `bound_ms`.
  std::optional<double> bound_ms;              ///< Only with a declared link.
  std::optional<double> bound_ratio;           ///< Step time over bound.
  std::optional<double> achievable_ms;         ///< Over ideal links in the order of sending.
  std::optional<double> achievable_ratio;      ///< Step time over the achievable one.
  std::optional<double> straggler_ms;          ///< Injected, mean over ranks and steps.
  std::optional<double> buckets;
  std::optional<double> cores_busy;       ///< Busy fraction of the cores' time.
  std::optional<double> accuracy;         ///< 0..1, held out, at the end.
  std::optional<double> test_loss;        ///< Held out, at the end.
  std::map<std::string, double> metrics;  ///< What else was measured held out, at the end.
  std::optional<double> loss;             ///< On the last step's training samples.
  std::optional<double> staleness_mean;   ///< Versions.
  std::optional<double> core_seconds_per_sample;
  std::optional<double> nic_bytes_per_sample;
  std::optional<double> nic_bytes_per_sample_servers;
  std::optional<double> cpu_seconds_workers;
  std::optional<double> cpu_seconds_servers;
  std::optional<double> peak_rss_bytes;
  std::optional<double> dilation_factor;
  std::optional<double> equivalent_cores_per_host;
  std::optional<double> wall_step_ms;  ///< The step in the machine's time.
  std::optional<double> least_idle_share;
  /// Medians over runs. A run that never reached the target counts as infinitely long, so that the
  /// median is absent when half of them did not.
  std::optional<double> seconds_to_target;
  std::optional<double> epochs_to_target;
  std::optional<double> samples_to_target;
  int reached_target = 0;  ///< Number of runs.

  /// Bootstrap intervals of the numbers above, by JSON name ("step_ms"). A name is absent with
  /// fewer than `StudyMethod::minimum_runs` runs.
  std::map<std::string, ConfidenceInterval> intervals;
  /// "above" (step time / bound over 1.15, or step time / achievable step over 1.05: needs an
  /// explanation), "below" (step time / bound under 1.00: one of the two is wrong), or empty.
  std::string bound_flag;
  /// The explanation from the runs' records (`ExplainBound`). For a cell with links and no bound it
  /// says why there is none. Empty when no explanation is needed.
  std::string bound_explanation;
  bool bound_explained = true;  ///< False: marked, and the records do not explain it.
  std::string bound_missing;
  std::optional<CriticalPath> critical_path;       ///< Each part's median over runs.
  std::map<std::int64_t, std::int64_t> staleness;  ///< Summed over runs.
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_CELLS_STUDY_CELL_H_
