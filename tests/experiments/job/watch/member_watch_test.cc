#include "ringside/experiments/job/watch/member_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "ringside/experiments/job/processes/member_setup.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr Member kWorker0{Role::kWorker, 0};
constexpr Member kWorker1{Role::kWorker, 1};

/// Two workers. Only worker 1 is a process, which ends at once.
class MemberWatchTest : public ::testing::Test {
 protected:
  MemberWatchTest() {
    for (const Member& who : {kWorker0, kWorker1}) {
      job_state_.Join({.who = who, .pid = 7, .host = "", .spec_hash = "spec"});
    }
  }

  MemberWatch Make(bool all_are_children = true) {
    return {job_state_,
            children_,
            {.lease = std::chrono::hours(1),
             .join_timeout = std::chrono::hours(1),
             .all_are_children = all_are_children}};
  }

  void StartWorker1() {
    MemberSetup setup;
    setup.who = kWorker1;
    setup.spec = ProfileSpec("none", 2, 1);
    children_.Start(setup);
    WaitUntil("its end", [&] { return children_.all_ended(); });
  }

  JobState job_state_{{.workers = 2, .servers = 0, .spec_hash = "spec"}};
  Console console_{{.show_progress = false}};
  ChildGroup children_{{.log_dir = "", .echo = false, .program = "/bin/false"}, console_};
};

// All processes may end between two looks. An end that was not looked at yet explains the failures
// that others have reported.
TEST_F(MemberWatchTest, AnEndThatNobodyHasLookedAtMayFollow) {
  MemberWatch watch = Make();
  job_state_.AddFailure({kWorker0, FailureKind::kComm, "worker 1 did not answer"});
  StartWorker1();
  EXPECT_FALSE(watch.Culprit());
  watch.Look();
  const std::optional<Failure> culprit = watch.Culprit();
  ASSERT_TRUE(culprit) << "all have ended, so nothing can follow";
  EXPECT_EQ(culprit->who, kWorker1);
  EXPECT_EQ(culprit->kind, FailureKind::kEarlyExit);
}

TEST_F(MemberWatchTest, AChildRunsUntilItsEndIsTaken) {
  StartWorker1();
  EXPECT_THAT(children_.running(), ElementsAre(kWorker1));
  EXPECT_EQ(children_.TakeEnds().size(), 1U);
  EXPECT_THAT(children_.running(), IsEmpty());
}

TEST_F(MemberWatchTest, AFailureAfterAForgivenOneHasItsOwnTime) {
  MemberWatch watch = Make(/*all_are_children=*/false);
  const auto decided = [&] { return watch.Culprit().has_value(); };
  const Failure cut_off{kWorker1, FailureKind::kComm, "worker 0 does not answer"};
  job_state_.AddFailure(cut_off);
  EXPECT_FALSE(decided());
  WaitUntil("a decision", decided);
  job_state_.Forgive(kWorker1);
  watch.ForgetCulprit();
  job_state_.AddFailure({kWorker0, FailureKind::kComm, "server 0 does not answer"});
  EXPECT_FALSE(decided()) << "the end of server 0 may follow";
}

// Under a limit of memory a library may wait for a thread that could not start.
TEST_F(MemberWatchTest, WhoNeverCameMayHaveLackedMemory) {
  JobState nobody({.workers = 1, .servers = 0, .spec_hash = "spec"});
  const auto error = [&] {
    ChildGroup none({}, console_);
    MemberWatch watch(nobody, none,
                      {.lease = std::chrono::hours(1), .join_timeout = std::chrono::seconds(0)});
    watch.Look();
    return nobody.failures().back().message;
  };
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  if (before.rlim_cur == RLIM_INFINITY) {
    EXPECT_EQ(error(), "did not join within 0 s");
  }
  const rlim_t ample = std::min(rlim_t{1} << 50, before.rlim_cur);
  const rlimit limit{.rlim_cur = ample, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
  EXPECT_THAT(error(),
              StartsWith("did not join within 0 s; the launcher and its children may use " +
                         std::to_string(ample / 1024) + " KiB of memory each (ulimit -v): "));
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
}

}  // namespace
}  // namespace ringside
