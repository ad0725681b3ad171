#include "ringside/experiments/job/core/job_verdict.h"

#include <gtest/gtest.h>

#include <chrono>

namespace ringside {
namespace {

TEST(JobVerdict, TheFirstDecisionCounts) {
  JobVerdict verdict(std::chrono::steady_clock::now() - std::chrono::seconds(2));
  EXPECT_FALSE(verdict.decided());
  verdict.Decide(JobStatus::kFailed, "worker 1 was killed", FailureKind::kSignal, "worker 1");
  verdict.Decide(JobStatus::kDone, "");
  EXPECT_TRUE(verdict.decided());
  EXPECT_EQ(verdict.status(), JobStatus::kFailed);
  EXPECT_EQ(verdict.error(), "worker 1 was killed");
  EXPECT_EQ(verdict.failure(), FailureKind::kSignal);
  EXPECT_EQ(verdict.failure_record()["member"], "worker 1");
  EXPECT_GE(verdict.failure_record()["seconds"], 2.0);
}

TEST(JobVerdict, WithoutAFailureThereIsNoRecord) {
  JobVerdict verdict(std::chrono::steady_clock::now());
  verdict.Decide(JobStatus::kTimedOut, "the run took longer than its limit of 1 s");
  EXPECT_FALSE(verdict.failure());
  EXPECT_TRUE(verdict.failure_record().is_null());
}

TEST(OutcomeText, AgentsReadWhatTheHostHasWritten) {
  const JobOutcome failed{.status = JobStatus::kFailed,
                          .error = "worker 1 was killed",
                          .failure = FailureKind::kOutOfMemory,
                          .stop_requested = true};
  const JobOutcome read = OutcomeFromText(OutcomeToText(failed));
  EXPECT_EQ(read.status, JobStatus::kFailed);
  EXPECT_EQ(read.error, failed.error);
  EXPECT_EQ(read.failure, FailureKind::kOutOfMemory);
  EXPECT_TRUE(read.stop_requested);

  const JobOutcome done = OutcomeFromText(OutcomeToText({.status = JobStatus::kDone}));
  EXPECT_EQ(done.status, JobStatus::kDone);
  EXPECT_FALSE(done.failure);
  EXPECT_FALSE(done.stop_requested);
}

TEST(OutcomeText, AnErrorMayQuoteAnyBytes) {
  EXPECT_EQ(OutcomeFromText(OutcomeToText({.error = "no\xff file"})).error, "no\xef\xbf\xbd file");
}

}  // namespace
}  // namespace ringside
