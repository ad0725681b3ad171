#include "ringside/experiments/network/calibration_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using ::testing::HasSubstr;

CalibrationPlan PlanOf(const char* network, double rate = 1e9) {
  return PlanHostCalibration(ParseNetwork(network), rate);
}

TEST(CalibrationPlan, APlainLinkIsJudgedAfterAMoment) {
  const CalibrationPlan plan = PlanOf("1Gbps");
  EXPECT_EQ(plan.not_judged, "");
  EXPECT_EQ(plan.settle_s, 0);
  EXPECT_LT(plan.timed_s, 0.1);
  // A slow link carries few bytes in that time.
  EXPECT_GT(PlanOf("10Mbps", 1e7).timed_s, plan.timed_s);
}

TEST(CalibrationPlan, LossAndJitterAreMeasuredAndNotJudged) {
  EXPECT_THAT(PlanOf("1Gbps,loss=0.1%").not_judged, HasSubstr("loss"));
  EXPECT_THAT(PlanOf("1Gbps,latency=1ms,jitter=1ms").not_judged, HasSubstr("jitter"));
  EXPECT_GT(PlanOf("1Gbps,loss=0.1%").answer_timeout_s, PlanOf("1Gbps").answer_timeout_s);
}

TEST(CalibrationPlan, LatencyIsJudgedAsLongAsOneWindowFillsTheLink) {
  EXPECT_EQ(PlanOf("1Gbps,latency=1ms").not_judged, "");
  EXPECT_THAT(PlanOf("1Gbps,latency=100ms").not_judged, HasSubstr("window"));
  EXPECT_EQ(PlanOf("10Mbps,latency=100ms", 1e7).not_judged, "");
}

TEST(CalibrationPlan, TimesGrowWithTheLatency) {
  for (const double rate : {1e6, 1e7, 1e9}) {
    NetworkSpec spec = ParseNetwork("1Gbps");
    for (const double latency : {0.05, 1.0, 10.0}) {
      spec.latency_s = latency;
      const CalibrationPlan plan = PlanHostCalibration(spec, rate);
      EXPECT_GT(plan.answer_timeout_s, 4 * latency) << "a handshake takes two";
      EXPECT_GE(plan.settle_s, 4 * latency);
      EXPECT_GE(plan.timed_s, 4 * latency) << "arrivals come in bundles a round trip apart";
      EXPECT_GT(plan.longest_s(), plan.settle_s + plan.timed_s + plan.answer_timeout_s);
    }
  }
}

TEST(CalibrationPlan, UplinksNeitherDelayNorLose) {
  const CalibrationPlan plan = PlanUplinkCalibration(1e9);
  EXPECT_EQ(plan.not_judged, "");
  EXPECT_EQ(plan.settle_s, 0);
}

}  // namespace
}  // namespace ringside
