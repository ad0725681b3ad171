#include "ringside/ring/core/failure_attribution.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/core/store.h"
#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

using Ranks = std::vector<std::string>;

const Ranks kTwo{"worker 0", "worker 1"};
const Ranks kFour{"worker 0", "worker 1", "worker 2", "worker 3"};

TEST(Accused, AreThoseThatDoNotAnswer) {
  EXPECT_EQ(Accused("worker 0", kFour, {"worker 1"}, false), Ranks{"worker 1"});
  EXPECT_EQ(Accused("worker 0", kFour, {}, true), Ranks{});
}

TEST(Accused, IsTheRankItselfIfNobodyAnswersIt) {
  EXPECT_EQ(Accused("worker 1", kFour, {"worker 0", "worker 2", "worker 3"}, false),
            Ranks{"worker 1"});
  EXPECT_EQ(Accused("worker 1", kTwo, {"worker 0"}, false), Ranks{"worker 0"}) << "who knows";
  EXPECT_EQ(Accused("worker 1", kTwo, {"worker 0"}, true), Ranks{"worker 1"});
}

// Ranks on links with three times the latency see a fault up to three times as far apart.
TEST(FindFailedPeer, WaitsForNotesInDilatedTime) {
  using Clock = std::chrono::steady_clock;
  InProcessStore store;
  const DilationScope dilation(3);
  const Clock::time_point begin = Clock::now();
  EXPECT_EQ(FindFailedPeer(store, "sum", "worker 0", "worker 1"), "worker 1");
  EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(900));
}

TEST(MostAccused, IsTheOneThatTheMajorityDoesNotReach) {
  const Blame blame = MostAccused(kFour, {{"worker 1"}, {"worker 1"}, {"worker 1"}, {"worker 0"}});
  EXPECT_EQ(blame.culprit, "worker 1");
  EXPECT_EQ(blame.accusers, 3);
  EXPECT_EQ(blame.voters, 4);
}

TEST(MostAccused, IsTheFirstOfSeveral) {
  const Blame blame = MostAccused(kFour, {{"worker 3", "worker 2"}, {"worker 2", "worker 3"}});
  EXPECT_EQ(blame.culprit, "worker 2");
}

TEST(MostAccused, IsNobodyWhereVotesSayNothing) {
  EXPECT_EQ(MostAccused(kFour, {{}, {}}).culprit, "");
  EXPECT_EQ(MostAccused(kTwo, {{"worker 1"}, {"worker 0"}}).culprit, "");
  EXPECT_EQ(MostAccused(kTwo, {{"worker 1"}, {"worker 1"}}).culprit, "worker 1");
}

// Answers came too late, or one segment was lost.
TEST(MostAccused, IsNobodyIfNotMoreThanHalfAgree) {
  EXPECT_EQ(MostAccused(kFour, {{"worker 0"}, {"worker 1"}, {"worker 3"}}).culprit, "");
  EXPECT_EQ(MostAccused(kFour, {{"worker 3"}, {}, {}}).culprit, "");
  EXPECT_EQ(MostAccused(kFour, {{"worker 3"}, {"worker 3"}, {}, {}}).culprit, "");
}

/// What each rank finds: `suspects` are the ranks' notes, `accused` their votes.
std::vector<Blame> Findings(Store& store, const Ranks& ranks, const Ranks& suspects,
                            const std::vector<Ranks>& accused) {
  std::vector<Blame> found(suspects.size());
  RunRanks(static_cast<int>(suspects.size()), [&](int rank) {
    const auto i = static_cast<std::size_t>(rank);
    ReportMissingPeer(store, "g", ranks[i], suspects[i]);
    found[i] = FindCulprit(
        store, "g", ranks[i], ranks,
        {.suspect = suspects[i], .accused = accused[i], .probe_time = std::chrono::seconds(20)});
  });
  return found;
}

std::vector<Blame> Findings(const Ranks& ranks, const Ranks& suspects,
                            const std::vector<Ranks>& accused) {
  InProcessStore store;
  return Findings(store, ranks, suspects, accused);
}

// Each rank of a ring waits for the one before it. The notes alone form a circle.
TEST(FindCulprit, NamesTheRankThatIsCutOffOnAllRanks) {
  const Ranks suspects{"worker 3", "worker 0", "worker 1", "worker 2"};
  const std::vector<Ranks> accused(4, Ranks{"worker 1"});
  for (const Blame& blame : Findings(kFour, suspects, accused)) {
    EXPECT_EQ(blame.culprit, "worker 1");
    EXPECT_EQ(blame.accusers, 4);
  }
}

TEST(FindCulprit, OfTwoRanksIsTheOneWhoseLinkIsDown) {
  for (const Blame& blame :
       Findings(kTwo, {"worker 1", "worker 0"}, {{"worker 1"}, {"worker 1"}})) {
    EXPECT_EQ(blame.culprit, "worker 1");
  }
}

// The last rank was killed: it says nothing, and its host answers.
TEST(FindCulprit, FollowsTheNotesWhereNobodyIsCutOff) {
  const Ranks suspects{"worker 3", "worker 0", "worker 1"};
  for (const Blame& blame : Findings(kFour, suspects, {{}, {}, {}})) {
    EXPECT_EQ(blame.culprit, "worker 3");
    EXPECT_EQ(blame.accusers, 0);
  }
}

// Worker 2 was killed, and latency is so high that nobody is reached in time.
TEST(FindCulprit, FollowsTheNotesWhereEachRankAccusesItself) {
  const Ranks suspects{"worker 2", "worker 0"};
  const Ranks ranks{"worker 0", "worker 1", "worker 2"};
  for (const Blame& blame : Findings(ranks, suspects, {{"worker 0"}, {"worker 1"}})) {
    EXPECT_EQ(blame.culprit, "worker 2");
    EXPECT_EQ(blame.accusers, 0);
  }
}

// A connection between workers 0 and 1 was cut. Worker 1 noticed it first, and closed its other
// connections; then worker 2 did the same, which worker 0 saw before the cut.
TEST(FindCulprit, IsWhomTheFirstNoteOfACircleNames) {
  const Ranks ranks{"worker 0", "worker 1", "worker 2"};
  const Ranks suspects{"worker 2", "worker 0", "worker 1"};
  InProcessStore store;
  for (const std::size_t i : {1U, 2U, 0U}) ReportMissingPeer(store, "g", ranks[i], suspects[i]);
  RunRanks(3, [&](int rank) {
    const auto i = static_cast<std::size_t>(rank);
    const Ballot ballot{.suspect = suspects[i], .probe_time = std::chrono::seconds(20)};
    EXPECT_EQ(FindCulprit(store, "g", ranks[i], ranks, ballot).culprit, "worker 0");
  });
}

/// The first answer of this store about each key is lost.
class LateStore : public InProcessStore {
 public:
  std::string Get(std::string_view key, const Deadline& deadline) override {
    if (asked_.insert(std::string(key)).second) throw CommError("the store", "get", "no answer");
    return InProcessStore::Get(key, deadline);
  }

 private:
  std::set<std::string> asked_;
};

// Worker 0 writes no note. Worker 1 is cut off, but takes worker 3 for the rank that is.
TEST(FindCulprit, AsksAgainWhereAnAnswerIsLate) {
  LateStore store;
  for (const char* rank : {"worker 2", "worker 3"}) {
    store.Set(std::string("g/suspect of ") + rank, "worker 1");
    store.Set(std::string("g/accused by ") + rank, "worker 1");
    try {
      store.Get(std::string("g/accused by ") + rank, Deadline::After(std::chrono::seconds(0)));
    } catch (const CommError&) {  // NOLINT(bugprone-empty-catch): the lost answer
    }
  }
  const Ballot ballot{.suspect = "worker 3", .accused = {"worker 3"}};
  const Blame blame = FindCulprit(store, "g", "worker 1", kFour, ballot);
  EXPECT_EQ(blame.culprit, "worker 1");
  EXPECT_EQ(blame.accusers, 2);
  EXPECT_EQ(blame.voters, 3);
}

// Whoever wrote first.
TEST(FindCulprit, IsTheRankThatNamesItself) {
  const Ranks suspects{"worker 1", "worker 2", "worker 2", "worker 2"};
  for (const std::size_t first : {0U, 1U, 2U, 3U}) {
    InProcessStore store;
    ReportMissingPeer(store, "g", kFour[first], suspects[first]);
    for (const Blame& blame : Findings(store, kFour, suspects, {{}, {}, {}, {}})) {
      EXPECT_EQ(blame.culprit, "worker 2") << "first: " << kFour[first];
    }
  }
}

}  // namespace
}  // namespace ringside
