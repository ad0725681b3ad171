#include "ringside/experiments/network/calibration_plan.h"

#include <algorithm>

#include "ringside/experiments/network/network_plan.h"

namespace ringside {
namespace {

constexpr double kTimedBytes = 1 << 20;
constexpr double kShortest = 0.04;
constexpr double kLongest = 0.3;
// After this time slow start has filled the link.
constexpr double kSettleRoundTrips = 40;
// It is not worth waiting longer for figures that are not judged.
constexpr double kShortSettleRoundTrips = 8;
// All bytes of a window may arrive together once per round trip. With fewer round trips the result
// would depend on chance.
constexpr double kTimedRoundTrips = 8;
constexpr double kAnswerTimeout = 5;
constexpr double kAnswerTimeoutRoundTrips = 8;
// TCP waits longer before each new try to send a lost packet.
constexpr double kAnswerTimeoutUnderLoss = 30;
// Half of what Linux lets a connection have in flight by default.
constexpr double kWindowBytes = 2 << 20;

/// The round trip from the switch to a host and back. Only packets that leave the host are delayed.
double RoundTrip(const NetworkSpec& spec) { return spec.latency_s + spec.jitter_s; }

std::string WhyNotJudged(const NetworkSpec& spec, double bytes_per_s) {
  if (spec.loss > 0) return "loss was asked for: one connection gets less than the link carries";
  if (spec.jitter_s > 0) {
    return "jitter was asked for: it reorders packets, which slows one connection down";
  }
  if (bytes_per_s * RoundTrip(spec) > kWindowBytes) {
    return "the latency that was asked for makes one connection's window the limit, not the link";
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
  plan.answer_timeout_s = (spec.loss > 0 ? kAnswerTimeoutUnderLoss : kAnswerTimeout) +
                          kAnswerTimeoutRoundTrips * round_trip;
  return plan;
}

CalibrationPlan PlanUplinkCalibration(double rate_bits_per_s) {
  const double bytes_per_s = GoodputBytesPerSecond(rate_bits_per_s);
  return {.timed_s = std::clamp(kTimedBytes / bytes_per_s, kShortest, kLongest),
          .answer_timeout_s = kAnswerTimeout};
}

}  // namespace ringside
