#include "ringside/common/strategy/plan_agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "tests/common/comm_error.h"

namespace ringside {
namespace {

using testing::HasSubstr;

PlanSummary Summary(std::size_t elements, std::size_t target_bytes, std::int64_t step = 0) {
  const std::vector<TensorSpec> tensors{{"a", elements}};
  return SummaryOf(BucketPlan(tensors, {target_bytes, target_bytes}), {.step = step});
}

CommError Disagreement(const std::vector<PlanSummary>& by_rank) {
  return CommErrorOf([&] { CheckPlanAgreement(by_rank); });
}

TEST(PlanAgreementTest, EqualPlansAgree) {
  const PlanSummary same = Summary(1000, 1024);
  EXPECT_NO_THROW(CheckPlanAgreement(std::vector{same}));
  EXPECT_NO_THROW(CheckPlanAgreement(std::vector{same, same, same}));
}

TEST(PlanAgreementTest, NamesAllThatDifferFromTheFirst) {
  const PlanSummary same = Summary(1000, 1024), other = Summary(999, 1024);
  EXPECT_EQ(Disagreement({same, other, same}).peer(), "worker 1");
  EXPECT_EQ(Disagreement({same, other, same, other}).peer(), "workers 1, 3");
}

TEST(PlanAgreementTest, SaysWhatDiffers) {
  const PlanSummary same = Summary(1000, 1024);
  EXPECT_THAT(Disagreement({same, Summary(999, 1024)}).what(),
              HasSubstr("elements: worker 1 has 999, worker 0 has 1000"));
  EXPECT_THAT(Disagreement({same, Summary(1000, 2048)}).what(), HasSubstr("buckets: worker 1 has"));
  EXPECT_THAT(Disagreement({same, Summary(1000, 1024, 7)}).what(),
              HasSubstr("worker 1 has step 7, worker 0 has step 0"));
  PlanSummary cut_elsewhere = same;
  ++cut_elsewhere.fingerprint;
  EXPECT_THAT(Disagreement({same, cut_elsewhere}).what(), HasSubstr("other sizes"));
}

TEST(PlanAgreementTest, TextRoundTrips) {
  const PlanSummary summary = Summary(1000, 1024, 12);
  EXPECT_EQ(PlanSummaryFromText(summary.ToText(), 0), summary);
}

TEST(PlanAgreementTest, TextThatIsNoSummaryNamesItsWorker) {
  for (const char* text : {"", "1 2 3", "1 2 3 4 5", "1 2 3 x", "-1 2 3 4"}) {
    EXPECT_EQ(CommErrorOf([&] { PlanSummaryFromText(text, 3); }).peer(), "worker 3") << text;
  }
}

}  // namespace
}  // namespace ringside
