#include "ringside/common/core/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Deadline Soon() { return Deadline::After(milliseconds(20)); }
Deadline Late() { return Deadline::After(seconds(20)); }

TEST(StoreTest, GetReturnsWhatWasSet) {
  InProcessStore store;
  store.Set("key", std::string("a\0b", 3));
  EXPECT_EQ(store.Get("key", Soon()), std::string("a\0b", 3));
}

TEST(StoreTest, GetWaitsForAnotherThread) {
  InProcessStore store;
  RunRanks(2, [&](int rank) {
    if (rank == 0) {
      EXPECT_EQ(store.Get("answer", Late()), "42");
      store.Set("heard", "");
    } else {
      store.Set("answer", "42");
      store.Get("heard", Late());
    }
  });
}

TEST(StoreTest, ADeadlineNamesTheKey) {
  InProcessStore store;
  store.Set("other", "");
  EXPECT_THAT([&] { store.Get("servers/3/address", Soon()); },
              ThrowsMessage<CommError>(HasSubstr("servers/3/address")));
}

TEST(StoreTest, KeysAreSetOnce) {
  InProcessStore store;
  store.Set("key", "one");
  EXPECT_NO_THROW(store.Set("key", "one")) << "repeating a call is harmless";
  EXPECT_THAT([&] { store.Set("key", "two"); }, ThrowsMessage<CommError>(HasSubstr("key")));
  EXPECT_EQ(store.Get("key", Soon()), "one");
}

class ExchangeTest : public ::testing::TestWithParam<int> {};

TEST_P(ExchangeTest, EverybodyGetsEverybodysByRank) {
  const int workers = GetParam();
  InProcessStore store;
  RunRanks(workers, [&](int rank) {
    for (int round = 0; round < 3; ++round) {
      const std::vector<std::string> all =
          StoreAllGather(store, TestWorld(rank, workers), "round " + std::to_string(round),
                         std::to_string(100 * round + rank), Late());
      ASSERT_EQ(all.size(), static_cast<std::size_t>(workers));
      for (int peer = 0; peer < workers; ++peer) {
        EXPECT_EQ(all[static_cast<std::size_t>(peer)], std::to_string(100 * round + peer));
      }
    }
  });
}

/// Counts its keys.
class CountingStore : public InProcessStore {
 public:
  void Set(std::string_view key, std::string_view value) override {
    InProcessStore::Set(key, value);
    ++keys_;
  }
  void Forget(std::string_view key) override {
    InProcessStore::Forget(key);
    --keys_;
  }
  int keys() const { return keys_; }

 private:
  std::atomic<int> keys_{0};
};

TEST_P(ExchangeTest, OfASeriesTheStoreKeepsTheLastTwo) {
  const int workers = GetParam();
  CountingStore store;
  RunRanks(workers, [&](int rank) {
    ExchangeSeries exchanges(store, TestWorld(rank, workers));
    for (int round = 0; round < 50; ++round) {
      const std::string name = "round " + std::to_string(round);
      const auto all = exchanges.GatherLiving(name, name + std::to_string(rank), Late());
      for (int peer = 0; peer < workers; ++peer) {
        EXPECT_EQ(all[static_cast<std::size_t>(peer)], name + std::to_string(peer));
      }
      EXPECT_LE(store.keys(), 2 * workers);
    }
  });
  EXPECT_EQ(store.keys(), workers);
  EXPECT_NO_THROW(store.Get(ExchangeKey("round 49", 0), Soon()));
  EXPECT_THROW(store.Get(ExchangeKey("round 48", 0), Soon()), CommError);
}

/// Forgets nothing.
class KeepingStore : public InProcessStore {
 public:
  void Forget(std::string_view /*key*/) override {
    throw CommError("store", "forgetting", "out of reach");
  }
};

TEST(ExchangeSeriesTest, GoesOnWhereTheStoreForgetsNothing) {
  KeepingStore store;
  ExchangeSeries exchanges(store, TestWorld(0, 1));
  for (const char* name : {"one", "two", "three"}) {
    EXPECT_EQ(exchanges.GatherLiving(name, name, Late()).at(0), name);
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, ExchangeTest, ::testing::Values(1, 2, 3, 4, 7));

TEST(ExchangeErrorTest, NamesTheFirstMissingRank) {
  InProcessStore store;
  // Ranks 0 and 2 have come, however late their threads are scheduled.
  for (const char* key : {"exchange/sums/0", "exchange/sums/2"}) store.Set(key, "x");
  const RankOutcomes outcomes = TryRanks(3, [&](int rank) {
    if (rank == 1) return;
    try {
      StoreAllGather(store, TestWorld(rank, 3), "sums", "x", Soon());
    } catch (const CommError& error) {
      EXPECT_EQ(error.peer(), "worker 1");
      EXPECT_THAT(error.what(), HasSubstr("exchange of sums"));
      throw;
    }
  });
  EXPECT_EQ(outcomes.failures(), 2);
  EXPECT_EQ(outcomes.by_rank[1], nullptr);
}

/// The connection to it breaks while somebody waits.
class BrokenStore : public Store {
 public:
  void Set(std::string_view, std::string_view) override {}
  std::string Get(std::string_view key, const Deadline&) override {
    throw CommError("coordinator", "waiting for " + std::string(key), "connection reset by peer");
  }
};

TEST(ExchangeErrorTest, BlamesNoWorkerWhenTheStoreFails) {
  BrokenStore store;
  try {
    StoreAllGather(store, TestWorld(1, 3), "sums", "x", Late());
    FAIL() << "it must throw";
  } catch (const CommError& error) {
    EXPECT_EQ(error.peer(), "coordinator");
  }
}

TEST(LostWorkerTest, NobodyWaitsForIt) {
  InProcessStore store;
  store.Set(ExchangeKey("sums", 1), kLostWorkerValue);
  RunRanks(3, [&](int rank) {
    if (rank == 1) return;
    const auto values =
        StoreGatherLiving(store, TestWorld(rank, 3), "sums", std::to_string(rank), Late());
    ASSERT_EQ(values.size(), 3U);
    EXPECT_EQ(values[0], "0");
    EXPECT_FALSE(values[1].has_value());
    EXPECT_EQ(values[2], "2");
  });
}

TEST(LostWorkerTest, EndsAnExchangeThatNeedsAllWorkers) {
  InProcessStore store;
  store.Set(ExchangeKey("sums", 1), kLostWorkerValue);
  try {
    StoreAllGather(store, TestWorld(0, 2), "sums", "x", Late());
    FAIL() << "it must throw";
  } catch (const CommError& error) {
    EXPECT_EQ(error.peer(), "worker 1");
    EXPECT_THAT(error.what(), HasSubstr("lost"));
  }
}

TEST(LostWorkerTest, ItsKeysAreThoseThatEndWithItsRank) {
  EXPECT_TRUE(IsExchangeKeyOf(ExchangeKey("ps/settle/3", 1), 1));
  EXPECT_FALSE(IsExchangeKeyOf(ExchangeKey("ps/settle/1", 3), 1));
  EXPECT_FALSE(IsExchangeKeyOf(ExchangeKey("ps/settle/3", 11), 1));
  EXPECT_FALSE(IsExchangeKeyOf("ps/1", 1));
}

TEST(DeadlineTest, RemainsNonNegative) {
  const Deadline past(Deadline::Clock::now() - seconds(1));
  EXPECT_TRUE(past.expired());
  EXPECT_EQ(past.remaining(), milliseconds(0));
  const Deadline future = Deadline::After(seconds(100));
  EXPECT_FALSE(future.expired());
  EXPECT_GT(future.remaining(), seconds(50));
}

TEST(ThreadRanksTest, RunsEveryRankAndRethrowsAFailure) {
  InProcessStore store;
  const auto body = [&](int rank) {
    store.Set("ran/" + std::to_string(rank), "");
    if (rank == 1) throw InternalError("the cause");
  };
  const RankOutcomes outcomes = TryRanks(3, body);
  EXPECT_EQ(outcomes.failures(), 1);
  EXPECT_EQ(outcomes.first, outcomes.by_rank[1]);
  EXPECT_NO_THROW(store.Get("ran/2", Soon()));
  EXPECT_THAT([&] { RunRanks(3, body); }, ThrowsMessage<InternalError>("the cause"));
}

}  // namespace
}  // namespace ringside
