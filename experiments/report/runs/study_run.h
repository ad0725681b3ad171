#ifndef RINGSIDE_EXPERIMENTS_REPORT_RUNS_STUDY_RUN_H_
#define RINGSIDE_EXPERIMENTS_REPORT_RUNS_STUDY_RUN_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ringside/experiments/report/runs/run_fidelity.h"

namespace ringside {

/// The parts of a step's time: medians over steps, in milliseconds. A part is absent when the data
/// cannot separate it from another part, which then includes it. At least one is there.
struct CriticalPath {
  std::optional<double> compute_ms;
  std::optional<double> exposed_comm_ms;
  std::optional<double> straggler_wait_ms;
  std::optional<double> server_queue_ms;
  std::optional<double> codec_ms;
  std::optional<double> data_ms;
  std::optional<double> other_ms;
};

/// A part of the critical path and its name in JSON.
struct CriticalPart {
  const char* name;
  std::optional<double> CriticalPath::*value;
};
inline constexpr std::array kCriticalParts{
    CriticalPart{"compute_ms", &CriticalPath::compute_ms},
    CriticalPart{"exposed_comm_ms", &CriticalPath::exposed_comm_ms},
    CriticalPart{"straggler_wait_ms", &CriticalPath::straggler_wait_ms},
    CriticalPart{"server_queue_ms", &CriticalPath::server_queue_ms},
    CriticalPart{"codec_ms", &CriticalPath::codec_ms},
    CriticalPart{"data_ms", &CriticalPath::data_ms},
    CriticalPart{"other_ms", &CriticalPath::other_ms}};

/// The time of a step over ideal links in the order of sending, and the parts of it above the bound
/// (experiments/job/summary/achievable.h). In milliseconds.
struct AchievableStep {
  double step_ms = 0;
  double compute_ms = 0;
  double phases_ms = 0;
  double uneven_ms = 0;
  double readiness_ms = 0;
  double tail_ms = 0;
};

/// A part of the achievable step, its name in JSON, and what people call it.
struct AchievablePart {
  const char* name;
  const char* what;
  double AchievableStep::*value;
};
inline constexpr std::array kAchievableParts{
    AchievablePart{"compute_ms", "compute that overlaps with nothing", &AchievableStep::compute_ms},
    AchievablePart{"phases_ms", "phases that wait for each other", &AchievableStep::phases_ms},
    AchievablePart{"uneven_ms", "uneven shares of the servers", &AchievableStep::uneven_ms},
    AchievablePart{"readiness_ms", "buckets that are ready late", &AchievableStep::readiness_ms},
    AchievablePart{"tail_ms", "what follows the last bucket", &AchievableStep::tail_ms}};

/// One evaluation of a run on held-out data.
struct CurvePoint {
  std::int64_t step = 0;     ///< Steps done before it.
  double epoch = 0;          ///< Same, in epochs.
  double samples = 0;        ///< Same, in samples of all workers.
  double train_seconds = 0;  ///< Training time before it, evaluations left out.
  std::optional<double> train_loss;
  std::optional<double> loss;
  std::optional<double> accuracy;  ///< 0..1
};

/// A link, as measured before the run.
struct StudyLink {
  std::string host;                       ///< "2"; "uplink 1" of a rack.
  std::optional<double> rate_bits_per_s;  ///< As requested.
  std::optional<double> expected_bytes_per_s;
  std::optional<double> sent_bytes_per_s;
  std::optional<double> received_bytes_per_s;
  std::optional<bool> ok;  ///< Absent: measured and not judged.
};

/// One run, as read from its bundle, with the numbers as measured. No value is left out because it
/// is unusual. A number is absent when the run did not get so far, or when it does not apply.
struct StudyRun {
  std::string run_id;
  std::string directory;
  std::string command;  ///< The command that runs the bundle's spec again.
  std::uint64_t seed = 0;
  int repetition = 0;
  std::string status;  ///< "done", "failed", ...
  std::string error;   ///< Empty when done.
  std::string started;
  std::size_t environment = 0;  ///< Index into `StudyTable::environments`.

  std::optional<double> step_ms;  ///< Median over its counted steps.
  std::optional<double> step_ms_p10;
  std::optional<double> step_ms_p90;
  std::optional<double> compute_ms;
  std::optional<double> exposed_comm_ms;
  std::optional<double> submit_ms;
  std::optional<double> data_ms;
  std::optional<double> codec_ms;
  std::optional<double> samples_per_s;
  std::optional<double> bytes_per_step;  ///< Sent by a worker process, on its sockets.
  std::optional<double> bound_bytes_per_step;
  std::optional<double> bound_comm_ms;  ///< The communication part of `bound_ms`.
  std::optional<double> bound_ms;
  std::optional<double> bound_ratio;
  std::optional<AchievableStep> achievable;
  std::optional<double> achievable_ms;     ///< Its `step_ms`.
  std::optional<double> achievable_ratio;  ///< Step time over it.
  std::string bound_missing;               ///< Why a run with links has no bound.
  std::optional<double> straggler_ms;      ///< Injected, mean over ranks and steps.
  std::optional<double> buckets;
  std::optional<int> cores;  ///< Cores that the run could use.
  /// Busy fraction of the machine's cores during training. For a bundle without that record: the
  /// fraction that all processes used over the whole run.
  std::optional<double> cores_busy;
  std::optional<double> loss;             ///< On the training samples of the last step.
  std::optional<double> eval_loss;        ///< Held out, at the end.
  std::optional<double> accuracy;         ///< 0..1, held out, at the end.
  std::map<std::string, double> metrics;  ///< What else was measured held out, at the end.
  std::optional<double> staleness_mean;
  std::optional<double> wall_seconds;
  std::optional<double> train_seconds;
  std::optional<double> startup_seconds;
  std::optional<double> cpu_seconds_workers;  ///< From start to end of each process.
  std::optional<double> cpu_seconds_servers;  ///< Dedicated ones; absent without.
  std::optional<double> peak_rss_bytes;
  std::optional<double> core_seconds_per_sample;  ///< Workers and dedicated servers.
  /// Bytes in both directions through the NICs of all workers' and dedicated servers' hosts.
  std::optional<double> nic_bytes_per_sample;
  std::optional<double> nic_bytes_per_sample_servers;  ///< The servers' part.

  std::optional<double> seconds_to_target;  ///< To `StudyTable::target.accuracy`.
  std::optional<double> epochs_to_target;
  std::optional<double> samples_to_target;

  /// The steps that the statistics leave out, and the steps that MSER-5 would leave out by rank 0's
  /// step times. The latter is absent with too few steps, or when the run had not settled after
  /// half of them.
  std::int64_t warmup_steps = 0;
  std::optional<std::int64_t> timed_steps;  ///< The times are medians over them.
  std::optional<std::int64_t> warmup_detected;
  /// The mean step time changes by more than 1 % without the steps before the run settled (half of
  /// the steps if it never settled).
  bool warmup_short = false;

  /// The step time lies more than 3.5 robust standard deviations from its cell's median (MAD rule).
  /// Marked, never dropped.
  bool outlier = false;
  std::optional<bool> link_ok;  ///< Absent: no link was calibrated.
  /// Absent without an emulated network. With a factor above 1 every time of the run is in dilated
  /// time, except `wall_seconds`, `startup_seconds` and `wall_step_ms`.
  std::optional<RunDilation> dilation;
  std::optional<RunFidelity> fidelity;  ///< Absent without an emulated network.
  std::optional<double> dilation_factor;
  std::optional<double> equivalent_cores_per_host;
  std::optional<double> wall_step_ms;  ///< The median step in the machine's time.
  std::optional<double> least_idle_share;
  std::vector<StudyLink> links;
  std::optional<CriticalPath> critical_path;
  std::map<std::int64_t, std::int64_t> staleness;  ///< Versions behind -> bucket updates.
  std::vector<CurvePoint> curve;                   ///< At most `kMaxCurvePoints`, thinned evenly.
  std::vector<std::int64_t> lost_workers;          ///< Their ranks: the run went on without them.
  std::vector<std::string> notes;                  ///< What the strategy decided by itself.
};

inline constexpr std::size_t kMaxCurvePoints = 200;

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_RUNS_STUDY_RUN_H_
