#ifndef RINGSIDE_EXPERIMENTS_JOB_SUMMARY_STEP_TRAFFIC_H_
#define RINGSIDE_EXPERIMENTS_JOB_SUMMARY_STEP_TRAFFIC_H_

#include <optional>
#include <vector>

#include "ringside/common/measure/bound.h"
#include "ringside/experiments/network/network_plan.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// Bytes from one host to another.
struct HostFlow {
  int from = 0;
  int to = 0;
  double bytes = 0;
};

/// The time that the links of a network need for the bytes of a step. Each host has a link and each
/// rack an uplink, with two directions. Bytes that stay within a host use no link.
class StepTraffic {
 public:
  /// Borrows the plan.
  explicit StepTraffic(const NetworkPlan& plan);

  /// Adds flows that use the links at the same time, and after those of the phases before.
  void AddPhase(const std::vector<HostFlow>& flows);

  /// The busiest link's time, if phases of different buckets can use the links at the same time.
  double OverlappedSeconds() const;
  /// The sum over the phases of the busiest link's time: every phase waits for the one before.
  double SequentialSeconds() const { return sequential_s_; }

 private:
  void Add(const HostFlow& flow, std::vector<double>& seconds) const;

  const NetworkPlan& plan_;
  std::vector<double> seconds_;  // per direction of each host's link, then of each rack's uplink
  double sequential_s_ = 0;
};

/// How long the links need for the bytes of a step.
struct TrafficTimes {
  double overlapped_s = 0;  ///< `StepTraffic::OverlappedSeconds`.
  double sequential_s = 0;  ///< `StepTraffic::SequentialSeconds`; at least `overlapped_s`.
};

/// The times of a run's strategy on the hosts of `plan`. A ring, and servers, are known by their
/// topology; any other all-reduce must have `StrategyEntry::traffic`. `cost` is the strategy's cost
/// for `input`. With `gathered`, gradients go round a ring and are not summed on the way. Absent
/// when it is not known who sends to whom. Pure.
///
/// For a strategy that chooses among others, `sequential_s` is the least of all choices.
/// `overlapped_s` holds for every all-reduce, since it may choose anew for each size. M bytes leave
/// and reach each host and each rack, and all H hosts send at least 2 (H - 1) M bytes (P. Patarasuk
/// and X. Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009).
std::optional<TrafficTimes> TrafficOf(const RunSpec& spec, const NetworkPlan& plan,
                                      const CostInput& input, const Cost& cost, bool gathered);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_SUMMARY_STEP_TRAFFIC_H_
