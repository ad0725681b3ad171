#ifndef RINGSIDE_EXPERIMENTS_NETWORK_CALIBRATION_PLAN_H_
#define RINGSIDE_EXPERIMENTS_NETWORK_CALIBRATION_PLAN_H_

#include <string>

#include "ringside/experiments/network/network_spec.h"

namespace ringside {

/// How the goodput of one link is measured, and whether it can be compared with the link's rate. A
/// value. Times are in seconds and grow with the requested latency.
struct CalibrationPlan {
  double settle_s = 0;          ///< Time for TCP before the clock starts.
  double timed_s = 0;           ///< How long the clock runs.
  double answer_timeout_s = 0;  ///< For each answer: a connection, the next bytes.
  /// Why one connection's goodput says nothing about the link's rate; empty when it does.
  std::string not_judged{};

  /// The longest time that one direction can take.
  double longest_s() const { return settle_s + timed_s + 2 * answer_timeout_s; }
};

/// The plan for a host's link. Packets that leave a host are delayed and lost. Pure.
CalibrationPlan PlanHostCalibration(const NetworkSpec& spec, double rate_bits_per_s);
/// The plan for a rack's uplink, which neither delays nor loses packets. Pure.
CalibrationPlan PlanUplinkCalibration(double rate_bits_per_s);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_NETWORK_CALIBRATION_PLAN_H_
