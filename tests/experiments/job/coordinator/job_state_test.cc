#include "ringside/experiments/job/coordinator/job_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/killed_program_error.h"
#include "ringside/common/core/store.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class JobStateTest : public ::testing::Test {
 protected:
  JobState::Options MakeOptions() {
    return {.workers = 2,
            .servers = 1,
            .spec_hash = "spec",
            .lease = std::chrono::milliseconds(5000),
            .clock = [this] { return now_; }};
  }

  JobState::MemberHandle Join(Role role, int index) {
    return job_state_.Join({.who = {role, index}, .pid = 7, .host = "here", .spec_hash = "spec"});
  }

  std::string Refusal(const JobState::JoinRequest& request) {
    try {
      job_state_.Join(request);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "joined";
  }

  std::chrono::steady_clock::time_point now_;
  JobState job_state_{MakeOptions()};
};

TEST_F(JobStateTest, AssignsFreeRanks) {
  EXPECT_EQ(Join(Role::kWorker, -1).who.index, 0);
  EXPECT_EQ(Join(Role::kWorker, -1).who.index, 1);
  EXPECT_THAT(job_state_.Missing(), ElementsAre(Member{Role::kServer, 0}));
}

TEST_F(JobStateTest, RefusesWhoDoesNotBelong) {
  Join(Role::kWorker, 1);
  EXPECT_THAT(Refusal({.who = {Role::kWorker, 1}, .spec_hash = "spec"}),
              HasSubstr("worker 1 has joined already (pid 7 on here)"));
  EXPECT_THAT(Refusal({.who = {Role::kWorker, 2}, .spec_hash = "spec"}),
              HasSubstr("the job has 2 workers"));
  EXPECT_THAT(Refusal({.who = {Role::kWorker, 0}, .spec_hash = "other"}),
              HasSubstr("another spec"));
  EXPECT_THAT(Refusal({.protocol = 99, .who = {Role::kWorker, 0}, .spec_hash = "spec"}),
              HasSubstr("version 99"));
  EXPECT_FALSE(job_state_.Joined({Role::kWorker, 0}));
}

TEST_F(JobStateTest, ARefusedMemberThatTheJobNeedsMakesItFail) {
  EXPECT_THAT(Refusal({.who = {Role::kAgent, 1}, .spec_hash = "other"}), HasSubstr("another spec"));
  Refusal({.who = {Role::kAgent, 1}, .spec_hash = "other"});
  ASSERT_EQ(job_state_.failures().size(), 1);
  EXPECT_EQ(job_state_.failures()[0].kind, FailureKind::kConfig);
  EXPECT_THAT(job_state_.failures()[0].Text(),
              HasSubstr("agent of rank 1: the job refused it: it was started with another spec"));
}

TEST_F(JobStateTest, ARefusedStrangerDoesNotHarmTheJob) {
  Join(Role::kWorker, 1);
  Refusal({.who = {Role::kWorker, 1}, .spec_hash = "other"});
  Refusal({.who = {Role::kAgent, 1}, .spec_hash = "other"});
  Refusal({.who = {Role::kWorker, 2}, .spec_hash = "spec"});
  EXPECT_TRUE(job_state_.failures().empty());
}

TEST_F(JobStateTest, KeysAreSetOnce) {
  job_state_.Set("key", "value");
  job_state_.Set("key", "value");
  EXPECT_THROW(job_state_.Set("key", "other"), CommError);
  EXPECT_EQ(job_state_.Value("key"), "value");
  EXPECT_THROW(job_state_.Set("", "value"), CommError);
  EXPECT_THROW(job_state_.Set(std::string(JobState::kMaxKeyBytes + 1, 'k'), ""), CommError);
  EXPECT_THROW(job_state_.Set("long", std::string(JobState::kMaxValueBytes + 1, 'v')), CommError);
}

// Otherwise a long run would end because the store is full.
TEST_F(JobStateTest, WhatIsForgottenMakesRoom) {
  const std::string value(JobState::kMaxValueBytes, 'v');
  const std::size_t too_many = JobState::kMaxStoreBytes / JobState::kMaxValueBytes + 1;
  for (std::size_t i = 0; i < too_many; ++i) {
    const std::string key = "key " + std::to_string(i);
    job_state_.Set(key, value);
    EXPECT_EQ(job_state_.Value(key), value);
    job_state_.Forget(key);
    EXPECT_FALSE(job_state_.Value(key));
  }
  EXPECT_NO_THROW(job_state_.Forget("unknown"));
}

TEST_F(JobStateTest, WaitersHearOfTheirKeyAlone) {
  std::vector<std::string> heard;
  const auto listen = [&heard](const std::string& value) { heard.push_back(value); };
  EXPECT_NE(job_state_.WhenSet("a", listen), 0);
  const std::uint64_t cancelled = job_state_.WhenSet("b", listen);
  EXPECT_TRUE(job_state_.CancelWait(cancelled));
  EXPECT_FALSE(job_state_.CancelWait(cancelled));
  job_state_.Set("b", "not heard");
  job_state_.Set("a", "heard");
  EXPECT_EQ(job_state_.WhenSet("a", listen), 0);
  EXPECT_THAT(heard, ElementsAre("heard", "heard"));
}

TEST_F(JobStateTest, AMemberWithoutHeartbeatIsLost) {
  const auto worker = Join(Role::kWorker, 0);
  const auto other = Join(Role::kWorker, 1);
  now_ += std::chrono::milliseconds(4999);
  job_state_.HandleHeartbeat(worker, {});
  now_ += std::chrono::milliseconds(2);
  EXPECT_THAT(job_state_.Lost(), ElementsAre(other.who));
  job_state_.Leave(other);
  EXPECT_TRUE(job_state_.Lost().empty());
}

TEST_F(JobStateTest, TellsAllMembersOfASuspension) {
  const auto worker = Join(Role::kWorker, 0);
  const auto other = Join(Role::kWorker, 1);
  job_state_.Suspend();
  EXPECT_FALSE(job_state_.AllKnowSuspension());
  EXPECT_EQ(job_state_.HandleHeartbeat(worker, {}).kind, HeartbeatCommand::Kind::kSuspended);
  EXPECT_FALSE(job_state_.AllKnowSuspension());
  EXPECT_EQ(job_state_.HandleHeartbeat(other, {}).kind, HeartbeatCommand::Kind::kSuspended);
  EXPECT_TRUE(job_state_.AllKnowSuspension());
  job_state_.Resume();
  EXPECT_EQ(job_state_.HandleHeartbeat(worker, {}).kind, HeartbeatCommand::Kind::kGoOn);
  job_state_.Suspend();
  job_state_.Leave(other);
  job_state_.HandleHeartbeat(worker, {});
  EXPECT_TRUE(job_state_.AllKnowSuspension()) << "who has left need not know";
  job_state_.Abort("it failed");
  EXPECT_EQ(job_state_.HandleHeartbeat(worker, {}).kind, HeartbeatCommand::Kind::kAbort);
}

TEST_F(JobStateTest, RefusesBeatsOfStrangersAndOfOldIncarnations) {
  const auto worker = Join(Role::kWorker, 0);
  EXPECT_THROW(job_state_.HandleHeartbeat({{Role::kWorker, 1}, 1}, {}), CommError);
  EXPECT_THROW(job_state_.HandleHeartbeat({worker.who, worker.incarnation + 1}, {}), CommError);
}

TEST_F(JobStateTest, RefusesReadingsOfTheClockThatAreNoTimes) {
  const auto worker = Join(Role::kWorker, 0);
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  for (const ClockReading& reading :
       {ClockReading{.at = kLargest}, ClockReading{.offset = -kLargest - 1},
        ClockReading{.uncertainty = kLargest}}) {
    EXPECT_THROW(job_state_.SubmitTrace(worker, {.readings = {reading}}), CommError);
  }
  EXPECT_NO_THROW(job_state_.SubmitTrace(worker, {.readings = {{.at = 5, .offset = -3}}}));
  EXPECT_EQ(job_state_.TakeTrace(worker.who).readings.size(), 1U);
}

TEST_F(JobStateTest, DrainsToTheLargestHeldStep) {
  const auto first = Join(Role::kWorker, 0);
  const auto second = Join(Role::kWorker, 1);
  EXPECT_EQ(job_state_.HandleHeartbeat(first, {.next_step = 4}).kind,
            HeartbeatCommand::Kind::kGoOn);
  job_state_.RequestDrain();
  EXPECT_EQ(job_state_.HandleHeartbeat(first, {.next_step = 4}).kind,
            HeartbeatCommand::Kind::kHold);
  EXPECT_EQ(job_state_.HandleHeartbeat(first, {.next_step = 5, .held = true}).kind,
            HeartbeatCommand::Kind::kHold);
  const HeartbeatCommand order = job_state_.HandleHeartbeat(second, {.next_step = 6, .held = true});
  EXPECT_EQ(order.kind, HeartbeatCommand::Kind::kStopAt);
  EXPECT_EQ(order.stop_step, 6);
  EXPECT_EQ(job_state_.HandleHeartbeat(first, {.next_step = 5, .held = true}).stop_step, 6);
}

TEST_F(JobStateTest, AWorkerThatHasEndedCountsAsHeldAtItsEnd) {
  const auto first = Join(Role::kWorker, 0);
  const auto second = Join(Role::kWorker, 1);
  job_state_.HandleHeartbeat(first, {.next_step = 10});
  job_state_.Leave(first);
  job_state_.RequestDrain();
  EXPECT_EQ(job_state_.HandleHeartbeat(second, {.next_step = 9, .held = true}).stop_step, 10);
}

TEST_F(JobStateTest, AnAgentCanAskForADrain) {
  const auto worker = Join(Role::kWorker, 0);
  const auto agent = Join(Role::kAgent, 1);
  job_state_.HandleHeartbeat(agent, {.held = true});
  EXPECT_EQ(job_state_.HandleHeartbeat(worker, {}).kind, HeartbeatCommand::Kind::kHold);
}

TEST_F(JobStateTest, AbortReachesEveryMemberWithItsReason) {
  const auto server = Join(Role::kServer, 0);
  job_state_.Abort("worker 1 is lost");
  job_state_.Abort("a later reason");
  const HeartbeatCommand order = job_state_.HandleHeartbeat(server, {});
  EXPECT_EQ(order.kind, HeartbeatCommand::Kind::kAbort);
  EXPECT_EQ(order.reason, "worker 1 is lost");
}

TEST_F(JobStateTest, IsCompleteWhenAllHaveHandedInAndLeft) {
  const auto server = Join(Role::kServer, 0);
  const auto first = Join(Role::kWorker, 0);
  const auto second = Join(Role::kWorker, 1);
  for (const auto& ticket : {first, second}) {
    EXPECT_FALSE(job_state_.Value(JobState::NoticeKey(0)));
    job_state_.SubmitReport(ticket, "{}");
    job_state_.Leave(ticket);
  }
  EXPECT_EQ(job_state_.Value(JobState::NoticeKey(0)), JobState::kFinishedNotice);
  job_state_.Leave(server);
  EXPECT_FALSE(job_state_.Complete());
  job_state_.SubmitReport(server, "{}");
  EXPECT_TRUE(job_state_.Complete());
}

TEST_F(JobStateTest, AFencedWorkerIsRefusedAndToldToServers) {
  const auto worker = Join(Role::kWorker, 1);
  EXPECT_FALSE(job_state_.Fence(0)) << "it never joined";
  EXPECT_EQ(job_state_.Fence(1), 0);
  EXPECT_EQ(job_state_.Value(JobState::NoticeKey(0)), "1");
  EXPECT_FALSE(job_state_.Fence(1)) << "once";
  EXPECT_THROW(job_state_.HandleHeartbeat(worker, {}), CommError);
  EXPECT_THROW(job_state_.Fail(worker, {FailureKind::kComm, "late"}), CommError);
  EXPECT_THAT(job_state_.failures(), ::testing::IsEmpty());
  now_ += std::chrono::seconds(6);
  EXPECT_THAT(job_state_.Lost(), ::testing::IsEmpty());
}

TEST_F(JobStateTest, NobodyWaitsForADroppedWorker) {
  Join(Role::kWorker, 0);
  Join(Role::kWorker, 1);
  const std::string before = ExchangeKey("before", 1);
  const std::string after = ExchangeKey("after", 1);
  job_state_.Set(before, "mine");
  std::string heard;
  const auto hear = [&](const std::string& value) { heard = value; };
  job_state_.WhenSet(after, hear);
  job_state_.Fence(1);
  EXPECT_EQ(heard, "") << "servers may still apply its pushes";
  job_state_.Drop(1);
  EXPECT_EQ(heard, kLostWorkerValue);
  EXPECT_THROW(job_state_.Set(after, "late"), CommError);
  job_state_.WhenSet(before, hear);
  EXPECT_EQ(heard, "mine") << "all others see the same";
  job_state_.WhenSet(ExchangeKey("later", 1), hear);
  EXPECT_EQ(heard, kLostWorkerValue);
  EXPECT_NE(job_state_.WhenSet(ExchangeKey("later", 0), hear), 0U) << "a living worker is awaited";
}

TEST_F(JobStateTest, IsCompleteWithoutADroppedWorker) {
  const auto server = Join(Role::kServer, 0);
  const auto first = Join(Role::kWorker, 0);
  Join(Role::kWorker, 1);
  job_state_.SubmitReport(first, "{}");
  job_state_.Leave(first);
  job_state_.Fence(1);
  EXPECT_FALSE(job_state_.Value(JobState::NoticeKey(1)));
  job_state_.Drop(1);
  EXPECT_EQ(job_state_.Value(JobState::NoticeKey(1)), JobState::kFinishedNotice);
  job_state_.SubmitReport(server, "{}");
  job_state_.Leave(server);
  EXPECT_TRUE(job_state_.Complete());
}

// The answer to the first call may be lost.
TEST_F(JobStateTest, AMemberMayLeaveTwice) {
  const auto first = Join(Role::kWorker, 0);
  const auto second = Join(Role::kWorker, 1);
  job_state_.Leave(first);
  job_state_.Leave(first);
  EXPECT_FALSE(job_state_.Value(JobState::NoticeKey(0)));
  job_state_.Leave(second);
  job_state_.Leave(second);
  EXPECT_EQ(job_state_.Value(JobState::NoticeKey(0)), JobState::kFinishedNotice);
  EXPECT_FALSE(job_state_.Value(JobState::NoticeKey(1)));
}

TEST_F(JobStateTest, AnExitIsAFailureUnlessTheWorkerHadFinishedOrSaidWhy) {
  const auto agent = Join(Role::kAgent, 1);
  const auto worker = Join(Role::kWorker, 1);
  job_state_.ReportChildExit(agent, {.code = 0, .message = "exited with code 0"});
  ASSERT_EQ(job_state_.failures().size(), 1);
  EXPECT_EQ(job_state_.failures()[0].who, worker.who);
  job_state_.ReportChildExit(agent, {.code = 1, .message = "exited with code 1"});
  EXPECT_EQ(job_state_.failures().size(), 1);
}

TEST_F(JobStateTest, AFinishedWorkerMayExit) {
  const auto agent = Join(Role::kAgent, 0);
  const auto worker = Join(Role::kWorker, 0);
  job_state_.SubmitReport(worker, "{}");
  job_state_.Leave(worker);
  job_state_.ReportChildExit(agent, {.code = 0, .message = "exited with code 0"});
  EXPECT_TRUE(job_state_.failures().empty());
  job_state_.ReportChildExit(agent, {.code = 23, .message = "exited with code 23"});
  ASSERT_EQ(job_state_.failures().size(), 1);
  EXPECT_EQ(job_state_.failures()[0].Text(),
            "worker 0 exited with code 23 after it handed in its result");
}

TEST_F(JobStateTest, TheLastLineOfAnAgentsChildIsInTheError) {
  const auto agent = Join(Role::kAgent, 1);
  job_state_.ReportChildExit(agent,
                             {.code = 3, .message = "exited with code 3", .last_line = "no data"});
  ASSERT_EQ(job_state_.failures().size(), 1);
  EXPECT_EQ(job_state_.failures()[0].Text(),
            "worker 1 exited with code 3 before it handed in a result; it wrote last: no data");
}

TEST_F(JobStateTest, RowsAreMovedOutOnce) {
  const auto worker = Join(Role::kWorker, 0);
  Beat beat;
  beat.steps.push_back({.step = 3, .samples = 8});
  job_state_.HandleHeartbeat(worker, beat);
  EXPECT_EQ(job_state_.TakeRows(worker.who).steps.size(), 1);
  EXPECT_TRUE(job_state_.TakeRows(worker.who).steps.empty());
}

TEST_F(JobStateTest, RowsThatComeTwiceCountOnce) {
  const auto worker = Join(Role::kWorker, 0);
  Beat beat{.steps = {{.step = 3}}, .rows_number = 1};
  job_state_.HandleHeartbeat(worker, beat);
  beat.next_step = 4;
  job_state_.HandleHeartbeat(worker, beat);
  EXPECT_EQ(job_state_.TakeRows(worker.who).steps.size(), 1);
  EXPECT_EQ(job_state_.Record(worker.who)->next_step, 4);
  job_state_.HandleHeartbeat(worker, {.steps = {{.step = 4}}, .rows_number = 2});
  EXPECT_EQ(job_state_.TakeRows(worker.who).steps.size(), 1);
}

TEST(RootCause, IsTheMostTellingAndThenTheFirst) {
  const Member worker{Role::kWorker, 0};
  const Member other{Role::kWorker, 1};
  const std::vector<Failure> failures{
      {worker, FailureKind::kComm, "all-reduce with worker 1 failed"},
      {worker, FailureKind::kEarlyExit, "exited with code 3"},
      {other, FailureKind::kSignal, "was killed by signal 9"},
      {worker, FailureKind::kSignal, "was killed by signal 6"},
  };
  EXPECT_EQ(RootCause(failures).Text(), "worker 1 was killed by signal 9");
  EXPECT_EQ(RootCause(std::span(failures).first(2)).Text(), "worker 0 exited with code 3");
  EXPECT_EQ(RootCause(std::span(failures).first(1)).Text(),
            "worker 0: all-reduce with worker 1 failed");
}

TEST(RootCause, OfCommunicationAccusesWhomMostAccuse) {
  const auto accuses = [](int worker, const char* accused) {
    return Failure{{Role::kWorker, worker}, FailureKind::kComm, "failed", accused};
  };
  const std::vector<Failure> failures{accuses(1, "server 0"), accuses(0, "worker 1"),
                                      accuses(2, "worker 1")};
  EXPECT_EQ(RootCause(failures).Blamed(), "worker 1");
  EXPECT_EQ(RootCause(failures).who.index, 0) << "the first of those that accuse it";
  EXPECT_EQ(RootCause(std::span(failures).first(2)).Blamed(), "server 0") << "as many: the first";
  const Failure unknown{{Role::kWorker, 2}, FailureKind::kComm, "failed"};
  EXPECT_EQ(unknown.Blamed(), "worker 2");
}

TEST(MemberToBlame, IsTheWorkerThatMissesAServerAlone) {
  const Failure misses{{Role::kWorker, 1}, FailureKind::kComm, "no answer", "server 0"};
  const std::vector<Failure> alone{misses};
  EXPECT_EQ(MemberToBlame(misses, alone, 3), "worker 1");
  EXPECT_EQ(MemberToBlame(misses, alone, 2), "server 0") << "one other worker is no majority";
  std::vector<Failure> both{misses, misses};
  both[1].who.index = 2;
  EXPECT_EQ(MemberToBlame(misses, both, 3), "server 0");
  const Failure peer{{Role::kWorker, 1}, FailureKind::kComm, "no data", "worker 0"};
  EXPECT_EQ(MemberToBlame(peer, std::vector{peer}, 3), "worker 0");
}

TEST(ReasonOfCurrentException, AKilledProgramIsTriedAgain) {
  try {
    throw KilledProgramError("/usr/sbin/tc was killed by signal 9");
  } catch (const Error&) {
    EXPECT_EQ(ReasonOfCurrentException().kind, FailureKind::kSignal);
  }
}

TEST(ReasonOfCurrentException, AccusesThePeerThatIsAMember) {
  const auto accused_of = [](const std::string& peer) {
    try {
      throw CommError(peer, "push", "no answer");
    } catch (...) {
      return ReasonOfCurrentException().accused;
    }
  };
  EXPECT_EQ(accused_of("server 0 at 127.0.0.1:4711"), "server 0");
  EXPECT_EQ(accused_of("worker 12"), "worker 12");
  EXPECT_EQ(accused_of("coordinator 127.0.0.1:4711"), "");
}

}  // namespace
}  // namespace ringside
