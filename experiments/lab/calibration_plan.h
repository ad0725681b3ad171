#ifndef RINGSIDE_EXPERIMENTS_LAB_CALIBRATION_PLAN_H_
#define RINGSIDE_EXPERIMENTS_LAB_CALIBRATION_PLAN_H_

#include <string>

#include "experiments/lab/network_spec.h"

namespace ringside {

/// How the goodput of one link is measured, and whether it can be held against the link's rate. A
/// value; times grow with the latency that was asked for.
struct CalibrationPlan {
  double settle_s = 0;    ///< What TCP gets before the clock starts.
  double timed_s = 0;     ///< What the clock runs.
  double patience_s = 0;  ///< With any one answer: a connection, the next bytes.
  /// Why one connection's goodput says nothing about the link's rate; empty: it does.
  std::string not_judged{};

  /// No measurement of one direction takes longer.
  double longest_s() const { return settle_s + timed_s + 2 * patience_s; }
};

/// Of a host's link: what leaves a host is late and lost on its way. Pure.
CalibrationPlan PlanHostCalibration(const NetworkSpec& spec, double rate_bits_per_s);
/// Of a rack's uplink, which neither delays nor loses. Pure.
CalibrationPlan PlanUplinkCalibration(double rate_bits_per_s);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LAB_CALIBRATION_PLAN_H_
