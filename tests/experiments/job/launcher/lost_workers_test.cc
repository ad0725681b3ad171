#include "ringside/experiments/job/launcher/lost_workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "ringside/experiments/job/processes/member_setup.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Member kWorker1{Role::kWorker, 1};

/// Three workers that train, and two servers. No process is real.
class LostWorkersTest : public ::testing::Test {
 protected:
  LostWorkersTest() {
    for (int worker = 0; worker < 3; ++worker) {
      job_state_.Join({.who = {Role::kWorker, worker}, .pid = 7, .host = "", .spec_hash = "spec"});
      job_state_.Set(TrainsKey(worker), "");
    }
  }

  LostWorkers Make(std::chrono::nanoseconds drop_time) {
    return {job_state_, children_, {.workers = 3, .servers = 2, .drop_time = drop_time}, console_};
  }

  JobState job_state_{{.workers = 3, .servers = 2, .spec_hash = "spec"}};
  Console console_{{.show_progress = false}};
  ChildGroup children_{{}, console_};
};

TEST_F(LostWorkersTest, AreDroppedWhenAllServersSaySo) {
  LostWorkers lost = Make(std::chrono::hours(1));
  ASSERT_TRUE(lost.Take({kWorker1, FailureKind::kSignal, "was killed"}));
  job_state_.Set(JobState::ObeyedKey(0, 0), "");
  lost.Look();
  EXPECT_FALSE(job_state_.Record(kWorker1)->dropped) << "server 1 could still apply a push of it";
  job_state_.Set(JobState::ObeyedKey(0, 1), "");
  lost.Look();
  EXPECT_TRUE(job_state_.Record(kWorker1)->dropped);
  EXPECT_THAT(job_state_.failures(), IsEmpty());
  ASSERT_EQ(lost.all().size(), 1U);
  EXPECT_EQ(lost.all()[0].index, 1);
  const nlohmann::json& words = lost.all()[0].last_words;
  ASSERT_EQ(words.size(), 3U) << "the servers have not joined";
  EXPECT_EQ(words[0]["member"], "worker 1") << "the others wait for it";
  EXPECT_EQ(words[0]["failed"], true);
  EXPECT_EQ(words[1]["failed"], false);
}

TEST_F(LostWorkersTest, AServerThatDoesNotDropThemIsBlamedOnce) {
  LostWorkers lost = Make(std::chrono::nanoseconds(0));
  ASSERT_TRUE(lost.Take({kWorker1, FailureKind::kLost, "is lost"}));
  job_state_.Set(JobState::ObeyedKey(0, 0), "");
  lost.Look();
  lost.Look();
  const std::vector<Failure> failures = job_state_.failures();
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].kind, FailureKind::kLost);
  EXPECT_THAT(failures[0].Text(), HasSubstr("server 1 did not drop the lost worker 1 within 0 s"));
  EXPECT_FALSE(job_state_.Record(kWorker1)->dropped);
}

TEST_F(LostWorkersTest, TheOneThatWritesTheResultsIsNotAmongThem) {
  LostWorkers lost = Make(std::chrono::hours(1));
  const Failure failure{{Role::kWorker, 0}, FailureKind::kSignal, "was killed"};
  EXPECT_FALSE(lost.Take(failure));
  EXPECT_THAT(lost.WhyNot(failure), HasSubstr("cannot go on without worker 0"));
}

}  // namespace
}  // namespace ringside
