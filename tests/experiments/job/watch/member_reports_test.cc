#include "ringside/experiments/job/watch/member_reports.h"

#include <gtest/gtest.h>

#include "ringside/experiments/job/coordinator/job_state.h"

namespace ringside {
namespace {

TEST(MemberReports, AreNullWhereAMemberHasHandedInNone) {
  JobState job({.workers = 2, .servers = 1, .spec_hash = "hash"});
  const auto join = [&job](Role role, int index) {
    return job.Join({.who = {role, index}, .pid = 1, .host = "here", .spec_hash = "hash"});
  };
  job.SubmitReport(join(Role::kWorker, 0), R"({"completed": true})");
  join(Role::kWorker, 1);
  RunRecord record;
  record.workers.resize(2);
  AddReports(job, 1, record);
  EXPECT_EQ(record.workers[0].host, "here");
  EXPECT_EQ(record.workers[0].report["completed"], true);
  EXPECT_EQ(record.workers[1].host, "here");
  EXPECT_TRUE(record.workers[1].report.is_null());
  ASSERT_EQ(record.server_reports.size(), 1U);
  EXPECT_TRUE(record.server_reports[0].is_null());
}

}  // namespace
}  // namespace ringside
