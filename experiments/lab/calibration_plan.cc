#include "experiments/lab/calibration_plan.h"

#include <algorithm>

#include "experiments/lab/network_plan.h"

namespace ringside {
namespace {

constexpr double kTimedBytes = 1 << 20;
constexpr double kShortest = 0.04;
constexpr double kLongest = 0.3;
// Slow start has long filled the link.
constexpr double kSettleRoundTrips = 40;
// Where no figure is judged, it is not worth the wait.
constexpr double kShortSettleRoundTrips = 8;
// A window's bytes may come in one bundle a round trip: fewer round trips would count chance.
constexpr double kTimedRoundTrips = 8;
constexpr double kPatience = 5;
constexpr double kPatienceRoundTrips = 8;
// Lost packets are sent again later and later.
constexpr double kPatienceUnderLoss = 30;
// Half of what Linux lets a connection have in flight where nobody has tuned it.
constexpr double kWindowBytes = 2 << 20;

/// From the switch to a host and back: only what leaves the host is late.
double RoundTrip(const NetworkSpec& spec) { return spec.latency_s + spec.jitter_s; }

std::string WhyNotJudged(const NetworkSpec& spec, double bytes_per_s) {
  if (spec.loss > 0) return "loss was asked for: one connection gets less than the link carries";
  if (spec.jitter_s > 0) {
    return "jitter was asked for: it reorders packets, which slows one connection down";
  }
  if (bytes_per_s * RoundTrip(spec) > kWindowBytes) {
    return "so much latency was asked for that one connection's window, not the link, is the limit";
  }
  return "";
}

}  // namespace

CalibrationPlan PlanHostCalibration(const NetworkSpec& spec, double rate_bits_per_s) {
  const double bytes_per_s = GoodputBytesPerSecond(rate_bits_per_s);
  const double round_trip = RoundTrip(spec);
  CalibrationPlan plan = PlanUplinkCalibration(rate_bits_per_s);
  plan.not_judged = WhyNotJudged(spec, bytes_per_s);
  plan.settle_s =
      round_trip * (plan.not_judged.empty() ? kSettleRoundTrips : kShortSettleRoundTrips);
  plan.timed_s = std::max(plan.timed_s, kTimedRoundTrips * round_trip);
  plan.patience_s =
      (spec.loss > 0 ? kPatienceUnderLoss : kPatience) + kPatienceRoundTrips * round_trip;
  return plan;
}

CalibrationPlan PlanUplinkCalibration(double rate_bits_per_s) {
  const double bytes_per_s = GoodputBytesPerSecond(rate_bits_per_s);
  return {.timed_s = std::clamp(kTimedBytes / bytes_per_s, kShortest, kLongest),
          .patience_s = kPatience};
}

}  // namespace ringside
