#include "experiments/job/job_board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/errors.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class JobBoardTest : public ::testing::Test {
 protected:
  JobBoard::Options MakeOptions() {
    return {.workers = 2,
            .servers = 1,
            .spec_hash = "spec",
            .lease = std::chrono::milliseconds(5000),
            .clock = [this] { return now_; }};
  }

  JobBoard::Ticket Join(Role role, int index) {
    return board_.Join({.who = {role, index}, .pid = 7, .host = "here", .spec_hash = "spec"});
  }

  std::string Refusal(const JobBoard::JoinRequest& request) {
    try {
      board_.Join(request);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "joined";
  }

  std::chrono::steady_clock::time_point now_;
  JobBoard board_{MakeOptions()};
};

TEST_F(JobBoardTest, AssignsFreeRanks) {
  EXPECT_EQ(Join(Role::kWorker, -1).who.index, 0);
  EXPECT_EQ(Join(Role::kWorker, -1).who.index, 1);
  EXPECT_THAT(board_.Missing(), ElementsAre(Member{Role::kServer, 0}));
}

TEST_F(JobBoardTest, RefusesWhoDoesNotBelong) {
  Join(Role::kWorker, 1);
  EXPECT_THAT(Refusal({.who = {Role::kWorker, 1}, .spec_hash = "spec"}),
              HasSubstr("worker 1 has joined already (pid 7 on here)"));
  EXPECT_THAT(Refusal({.who = {Role::kWorker, 2}, .spec_hash = "spec"}),
              HasSubstr("the job has 2 workers"));
  EXPECT_THAT(Refusal({.who = {Role::kWorker, 0}, .spec_hash = "other"}),
              HasSubstr("another spec"));
  EXPECT_THAT(Refusal({.protocol = 99, .who = {Role::kWorker, 0}, .spec_hash = "spec"}),
              HasSubstr("version 99"));
  EXPECT_FALSE(board_.Joined({Role::kWorker, 0}));
}

TEST_F(JobBoardTest, KeysAreSetOnce) {
  board_.Set("key", "value");
  board_.Set("key", "value");
  EXPECT_THROW(board_.Set("key", "other"), CommError);
  EXPECT_EQ(board_.Value("key"), "value");
  EXPECT_THROW(board_.Set("", "value"), CommError);
  EXPECT_THROW(board_.Set(std::string(JobBoard::kMaxKeyBytes + 1, 'k'), ""), CommError);
  EXPECT_THROW(board_.Set("long", std::string(JobBoard::kMaxValueBytes + 1, 'v')), CommError);
}

TEST_F(JobBoardTest, WaitersHearOfTheirKeyAlone) {
  std::vector<std::string> heard;
  const auto listen = [&heard](const std::string& value) { heard.push_back(value); };
  EXPECT_NE(board_.WhenSet("a", listen), 0);
  const std::uint64_t cancelled = board_.WhenSet("b", listen);
  EXPECT_TRUE(board_.CancelWait(cancelled));
  EXPECT_FALSE(board_.CancelWait(cancelled));
  board_.Set("b", "not heard");
  board_.Set("a", "heard");
  EXPECT_EQ(board_.WhenSet("a", listen), 0);
  EXPECT_THAT(heard, ElementsAre("heard", "heard"));
}

TEST_F(JobBoardTest, AMemberWithoutHeartbeatIsLost) {
  const auto worker = Join(Role::kWorker, 0);
  const auto other = Join(Role::kWorker, 1);
  now_ += std::chrono::milliseconds(4999);
  board_.TakeBeat(worker, {});
  now_ += std::chrono::milliseconds(2);
  EXPECT_THAT(board_.Lost(), ElementsAre(other.who));
  board_.Leave(other);
  EXPECT_TRUE(board_.Lost().empty());
}

TEST_F(JobBoardTest, RefusesBeatsOfStrangersAndOfOldIncarnations) {
  const auto worker = Join(Role::kWorker, 0);
  EXPECT_THROW(board_.TakeBeat({{Role::kWorker, 1}, 1}, {}), CommError);
  EXPECT_THROW(board_.TakeBeat({worker.who, worker.incarnation + 1}, {}), CommError);
}

TEST_F(JobBoardTest, DrainsToTheLargestHeldStep) {
  const auto first = Join(Role::kWorker, 0);
  const auto second = Join(Role::kWorker, 1);
  EXPECT_EQ(board_.TakeBeat(first, {.next_step = 4}).kind, BeatOrder::Kind::kGoOn);
  board_.RequestDrain();
  EXPECT_EQ(board_.TakeBeat(first, {.next_step = 4}).kind, BeatOrder::Kind::kHold);
  EXPECT_EQ(board_.TakeBeat(first, {.next_step = 5, .held = true}).kind, BeatOrder::Kind::kHold);
  const BeatOrder order = board_.TakeBeat(second, {.next_step = 6, .held = true});
  EXPECT_EQ(order.kind, BeatOrder::Kind::kStopAt);
  EXPECT_EQ(order.stop_step, 6);
  EXPECT_EQ(board_.TakeBeat(first, {.next_step = 5, .held = true}).stop_step, 6);
}

TEST_F(JobBoardTest, AWorkerThatHasEndedCountsAsHeldAtItsEnd) {
  const auto first = Join(Role::kWorker, 0);
  const auto second = Join(Role::kWorker, 1);
  board_.TakeBeat(first, {.next_step = 10});
  board_.Leave(first);
  board_.RequestDrain();
  EXPECT_EQ(board_.TakeBeat(second, {.next_step = 9, .held = true}).stop_step, 10);
}

TEST_F(JobBoardTest, AnAgentCanAskForADrain) {
  const auto worker = Join(Role::kWorker, 0);
  const auto agent = Join(Role::kAgent, 1);
  board_.TakeBeat(agent, {.held = true});
  EXPECT_EQ(board_.TakeBeat(worker, {}).kind, BeatOrder::Kind::kHold);
}

TEST_F(JobBoardTest, AbortReachesEveryMemberWithItsReason) {
  const auto server = Join(Role::kServer, 0);
  board_.Abort("worker 1 is lost");
  board_.Abort("a later reason");
  const BeatOrder order = board_.TakeBeat(server, {});
  EXPECT_EQ(order.kind, BeatOrder::Kind::kAbort);
  EXPECT_EQ(order.reason, "worker 1 is lost");
}

TEST_F(JobBoardTest, IsCompleteWhenAllHaveHandedInAndLeft) {
  const auto server = Join(Role::kServer, 0);
  const auto first = Join(Role::kWorker, 0);
  const auto second = Join(Role::kWorker, 1);
  for (const auto& ticket : {first, second}) {
    EXPECT_FALSE(board_.Value(JobBoard::kFinishedKey));
    board_.HandIn(ticket, "{}");
    board_.Leave(ticket);
  }
  EXPECT_TRUE(board_.Value(JobBoard::kFinishedKey));
  board_.Leave(server);
  EXPECT_FALSE(board_.Complete());
  board_.HandIn(server, "{}");
  EXPECT_TRUE(board_.Complete());
}

TEST_F(JobBoardTest, AnExitIsAFailureUnlessTheWorkerHadFinishedOrSaidWhy) {
  const auto agent = Join(Role::kAgent, 1);
  const auto worker = Join(Role::kWorker, 1);
  board_.EndOfChild(agent, FailureKind::kEarlyExit, 0, "exited with code 0");
  ASSERT_EQ(board_.failures().size(), 1);
  EXPECT_EQ(board_.failures()[0].who, worker.who);
  board_.EndOfChild(agent, FailureKind::kEarlyExit, 1, "exited with code 1");
  EXPECT_EQ(board_.failures().size(), 1);
}

TEST_F(JobBoardTest, AFinishedWorkerMayExit) {
  const auto agent = Join(Role::kAgent, 0);
  const auto worker = Join(Role::kWorker, 0);
  board_.HandIn(worker, "{}");
  board_.Leave(worker);
  board_.EndOfChild(agent, FailureKind::kEarlyExit, 0, "exited with code 0");
  EXPECT_TRUE(board_.failures().empty());
  board_.EndOfChild(agent, FailureKind::kEarlyExit, 23, "exited with code 23");
  ASSERT_EQ(board_.failures().size(), 1);
  EXPECT_EQ(board_.failures()[0].Text(),
            "worker 0 exited with code 23 after it handed in its result");
}

TEST_F(JobBoardTest, RenewedLeasesBeginAnew) {
  Join(Role::kWorker, 0);
  now_ += std::chrono::seconds(20);
  EXPECT_EQ(board_.Lost().size(), 1);
  board_.RenewLeases();
  EXPECT_TRUE(board_.Lost().empty());
  now_ += std::chrono::seconds(6);
  EXPECT_EQ(board_.Lost().size(), 1);
}

TEST_F(JobBoardTest, RowsAreMovedOutOnce) {
  const auto worker = Join(Role::kWorker, 0);
  Beat beat;
  beat.steps.push_back({.step = 3, .samples = 8});
  board_.TakeBeat(worker, beat);
  EXPECT_EQ(board_.TakeRows(worker.who).steps.size(), 1);
  EXPECT_TRUE(board_.TakeRows(worker.who).steps.empty());
}

TEST(Culprit, IsTheMostTellingAndThenTheFirst) {
  const Member worker{Role::kWorker, 0};
  const Member other{Role::kWorker, 1};
  const std::vector<Failure> failures{
      {worker, FailureKind::kComm, "all-reduce with worker 1 failed"},
      {worker, FailureKind::kEarlyExit, "exited with code 3"},
      {other, FailureKind::kSignal, "was killed by signal 9"},
      {worker, FailureKind::kSignal, "was killed by signal 6"},
  };
  EXPECT_EQ(Culprit(failures).Text(), "worker 1 was killed by signal 9");
  EXPECT_EQ(Culprit(std::span(failures).first(2)).Text(), "worker 0 exited with code 3");
  EXPECT_EQ(Culprit(std::span(failures).first(1)).Text(),
            "worker 0: all-reduce with worker 1 failed");
}

}  // namespace
}  // namespace ringside
