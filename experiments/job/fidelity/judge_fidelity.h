#ifndef RINGSIDE_EXPERIMENTS_JOB_FIDELITY_JUDGE_FIDELITY_H_
#define RINGSIDE_EXPERIMENTS_JOB_FIDELITY_JUDGE_FIDELITY_H_

#include <optional>
#include <string>
#include <vector>

#include "ringside/experiments/job/fidelity/processor_watch.h"
#include "ringside/experiments/job/fidelity/time_window.h"
#include "ringside/experiments/lab/link_counters.h"

namespace ringside {

/// What a run may need of this machine before the machine counts as its limit. A value at its limit
/// is good.
struct FidelityLimits {
  /// Of all cores, in every second. Source: Handigol, Heller, Jeyakumar, Lantz, McKeown,
  /// "Reproducible network experiments using container-based emulation", CoNEXT 2012. They measured
  /// the idle time of every second. In the runs that matched a testbed (Hedera) at least 35 % were
  /// idle in every second.
  double least_idle_share = 0.35;
  /// The 99th percentile of late wake-ups in every second: the larger of a time and of a share of a
  /// step. The same paper watches how late packets leave. The shaper of a link lets a burst of
  /// 32 KiB pass before it waits for a timer. At 250 Mbit/s that is 1 ms. The share is our choice:
  /// a delay of 2 % of a step is about the error that a calibrated link may have.
  double late_floor_ms = 1;
  double late_share_of_step = 0.02;
  /// Of the segments that were sent, those that were sent again though no queue of a link can have
  /// dropped them. Our choice: by Mathis et al., "The macroscopic behavior of the TCP congestion
  /// avoidance algorithm", 1997, a loss of 2 % holds a connection to a window of about 9 segments.
  double retransmitted_share = 0.02;
  /// A shorter time has too few ticks and wake-ups.
  double least_seconds = 0.1;
};

struct FidelityInput {
  const ProcessorRecord& processor;
  std::vector<TimeWindow> windows;       ///< Within the counted steps; in order, without overlap.
  std::optional<double> step_ms;         ///< The run's median step, in the machine's time.
  std::optional<LinkCounters> counters;  ///< Of the whole job; absent when they were not read.
  std::string counters_error;            ///< Why.
  int segments_of_a_packet = 1;          ///< The most that a dropped packet held.
  bool loses_on_purpose = false;         ///< The network declares `loss`.
};

/// How late the probes woke up, in milliseconds of the machine.
struct LateWakeUps {
  double p99 = 0;
  double worst_second_p99 = 0;
  double max = 0;
  double allowed = 0;
};

/// A verdict and its figures. A figure is absent when it was not measured.
struct Fidelity {
  double judged_seconds = 0;
  std::optional<double> least_idle_share, median_idle_share;
  std::optional<LateWakeUps> late;
  std::optional<LinkCounters> counters;
  std::optional<double> retransmitted_share;  ///< Absent also when nothing was sent.
  std::optional<double> unexplained_share;    ///< The part of it that no full queue explains.
  int segments_of_a_packet = 1;               ///< As in the input.
  std::vector<std::string> limited_by;
  std::vector<std::string> not_judged;  ///< What could not be judged, and why.
};

/// Judges a run. Cuts the windows, joined to one time, into seconds. What is left of a second at
/// the end is judged in the last whole second before the end. Windows of less than a second are one
/// sample. Ticks between two looks count as evenly spread. Pure.
Fidelity JudgeFidelity(const FidelityInput& input, const FidelityLimits& limits = {});

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_FIDELITY_JUDGE_FIDELITY_H_
