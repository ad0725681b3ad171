// Tests collectives over Gloo on loopback, with threads as ranks.
#include "ringside/ring/transports/gloo_collective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/common/core/store.h"
#include "ringside/common/sockets/tcp_socket.h"
#include "ringside/ring/algorithms/link_algorithm.h"
#include "ringside/ring/algorithms/ring_algorithms.h"
#include "tests/common/numbers.h"
#include "tests/common/slow_store.h"
#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using testing::AnyOf;
using testing::HasSubstr;

CommOptions TestComm() { return {.address = "127.0.0.1", .token = "secret", .timeout = 3s}; }

std::string Name(const LinkAlgorithm& algorithm) {
  std::string name(algorithm.name);
  std::ranges::replace(name, '-', '_');
  return name;
}

struct Setting {
  const LinkAlgorithm* algorithm;
  int world;
};

class CollectiveTest : public testing::TestWithParam<Setting> {
 protected:
  using Body = std::function<void(Collective& collective, int rank)>;

  void OnEveryRank(const Body& body) {
    InProcessStore store;
    const CommOptions comm = TestComm();
    RunRanks(world(), [&](int rank) {
      GlooCollective collective(TestWorld(rank, world()), store, comm, *GetParam().algorithm, "g");
      body(collective, rank);
      collective.AllGather({});
    });
  }
  int world() const { return GetParam().world; }
};

TEST_P(CollectiveTest, TellsItsSegmentsIfItIsARing) {
  const bool ring = GetParam().algorithm->topology == Topology::kRing && world() > 1;
  OnEveryRank([&](Collective& collective, int) {
    EXPECT_EQ(collective.segment_bytes(), ring ? Links::kSegmentBytes : 0);
  });
}

TEST_P(CollectiveTest, SumsExactlyForEverySize) {
  const auto n = static_cast<std::size_t>(world());
  OnEveryRank([&](Collective& collective, int rank) {
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, n - 1, n, n + 1, std::size_t{100'000}}) {
      std::vector<float> data(count);
      for (std::size_t i = 0; i < count; ++i) {
        data[i] = static_cast<float>(i % 1000) * static_cast<float>(rank + 1);
      }
      collective.AllReduceSum({data});
      const float factor = SumUpTo(n);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(data[i], static_cast<float>(i % 1000) * factor) << "element " << i;
      }
    }
  });
}

TEST_P(CollectiveTest, GivesTheSameBitsOnEveryRankAndInEveryRun) {
  constexpr std::size_t kCount = 70'001;
  std::vector<std::vector<float>> results(2 * static_cast<std::size_t>(world()));
  for (std::size_t run = 0; run < 2; ++run) {
    OnEveryRank([&](Collective& collective, int rank) {
      std::vector<float> data(kCount);
      for (std::size_t i = 0; i < kCount; ++i) {
        data[i] = 1.0F / static_cast<float>(i + 3 * static_cast<std::size_t>(rank) + 1);
      }
      collective.AllReduceSum({data});
      results[run * static_cast<std::size_t>(world()) + static_cast<std::size_t>(rank)] = data;
    });
  }
  for (const auto& result : results) {
    ASSERT_TRUE(SameBits(result, results[0]));
  }
}

TEST_P(CollectiveTest, BroadcastsFromEveryRoot) {
  OnEveryRank([&](Collective& collective, int rank) {
    for (int root = 0; root < world(); ++root) {
      std::vector<float> data(50'000, static_cast<float>(rank));
      collective.Broadcast(std::as_writable_bytes(std::span(data)), root);
      ASSERT_EQ(data, std::vector<float>(data.size(), static_cast<float>(root)));
    }
  });
}

TEST_P(CollectiveTest, GathersByRank) {
  OnEveryRank([&](Collective& collective, int rank) {
    const std::vector<std::byte> mine(3, static_cast<std::byte>(rank));
    const auto all = collective.AllGather(mine);
    ASSERT_EQ(all.size(), 3 * static_cast<std::size_t>(world()));
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], static_cast<std::byte>(i / 3));
  });
}

std::vector<Setting> AllSettings() {
  std::vector<Setting> settings;
  for (const LinkAlgorithm* algorithm : LinkAlgorithms()) {
    for (const int world : {1, 2, 3, 4, 7}) settings.push_back({algorithm, world});
  }
  return settings;
}

INSTANTIATE_TEST_SUITE_P(Gloo, CollectiveTest, testing::ValuesIn(AllSettings()),
                         [](const auto& setting) {
                           return Name(*setting.param.algorithm) + "_" +
                                  std::to_string(setting.param.world);
                         });

/// The message of the error that a rank's collective throws; empty when it throws none.
std::optional<CommError> ErrorOf(const RankOutcomes& outcomes, int rank) {
  try {
    const auto& failure = outcomes.by_rank[static_cast<std::size_t>(rank)];
    if (failure != nullptr) std::rethrow_exception(failure);
  } catch (const CommError& error) {
    return error;
  }
  return std::nullopt;
}

TEST(CollectiveFaultTest, EveryRankNamesThePeerThatLeft) {
  constexpr int kWorld = 4;
  constexpr int kLeaver = 2;
  for (const LinkAlgorithm* algorithm : LinkAlgorithms()) {
    InProcessStore store;
    const CommOptions comm = TestComm();
    const auto outcomes = TryRanks(kWorld, [&](int rank) {
      GlooCollective collective(TestWorld(rank, kWorld), store, comm, *algorithm, "g");
      std::vector<float> data(100'000, 1.0F);
      collective.AllReduceSum({.data = data, .bucket = 0});
      if (rank == kLeaver) return;
      for (int i = 0; i < 2; ++i) collective.AllReduceSum({.data = data, .bucket = 1});
    });
    for (int rank = 0; rank < kWorld; ++rank) {
      const auto error = ErrorOf(outcomes, rank);
      ASSERT_EQ(error.has_value(), rank != kLeaver) << algorithm->name << " rank " << rank;
      if (!error) continue;
      EXPECT_EQ(error->peer(), "worker 2") << error->what();
      EXPECT_THAT(error->operation(), HasSubstr("all-reduce of bucket 1, step 0"));
    }
  }
}

TEST(CollectiveFaultTest, ASilentPeerIsMissedAfterTheTimeout) {
  InProcessStore store;
  CommOptions comm = TestComm();
  comm.timeout = 200ms;
  const auto outcomes = TryRanks(3, [&](int rank) {
    GlooCollective collective(TestWorld(rank, 3), store, comm, kRingAlgorithm, "g");
    if (rank == 1) {  // stays connected until the others have given up
      store.Get("done 0", Deadline::After(5s));
      store.Get("done 2", Deadline::After(5s));
      return;
    }
    std::vector<float> data(100, 1.0F);
    try {
      collective.AllReduceSum({.data = data, .bucket = 0});
    } catch (const CommError&) {
      store.Set("done " + std::to_string(rank), "");
      throw;
    }
  });
  EXPECT_EQ(outcomes.by_rank[1], nullptr);
  for (const int rank : {0, 2}) {
    const auto error = ErrorOf(outcomes, rank);
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->peer(), "worker 1") << error->what();
  }
}

TEST(CollectiveFaultTest, AfterAFailureEveryCallThrowsTheSame) {
  InProcessStore store;
  const CommOptions comm = TestComm();
  TryRanks(2, [&](int rank) {
    GlooCollective collective(TestWorld(rank, 2), store, comm, kRingAlgorithm, "g");
    if (rank == 1) return;
    std::vector<float> data(10, 1.0F);
    std::string first;
    try {
      collective.AllReduceSum({.data = data, .bucket = 0});
      ADD_FAILURE() << "worker 1 is gone";
    } catch (const CommError& error) {
      first = error.what();
    }
    try {
      collective.Broadcast(std::as_writable_bytes(std::span(data)), 0);
      ADD_FAILURE() << "it is broken";
    } catch (const CommError& error) {
      EXPECT_EQ(error.what(), first);
    }
  });
}

TEST(CollectiveTest, ProcessesMayStartFurtherApartThanAnOperationTakes) {
  SlowStore store;
  store.Delay("", 10s);
  const CommOptions comm = TestComm();
  RunRanks(3, [&](int rank) {
    GlooCollective collective(TestWorld(rank, 3), store, comm, kRingAlgorithm, "g");
  });
}

TEST(CollectiveFaultTest, AMissingRankIsNamedAtTheStart) {
  InProcessStore store;
  CommOptions comm = TestComm();
  comm.timeout = comm.start_timeout = 200ms;
  const auto outcomes = TryRanks(2, [&](int rank) {
    GlooCollective collective(TestWorld(rank, 3), store, comm, kRingAlgorithm, "g");
  });
  ASSERT_NE(outcomes.first, nullptr);
  for (const int rank : {0, 1}) EXPECT_EQ(ErrorOf(outcomes, rank).value().peer(), "worker 2");
}

TEST(CollectiveFaultTest, APeerThatNeverConnectsIsNamedAtTheStart) {
  InProcessStore store;
  CommOptions comm = TestComm();
  comm.timeout = comm.start_timeout = 200ms;
  // Rank 1 has published an endpoint. Of two ranks the higher one connects.
  store.Set("exchange/g/published/1", "127.0.0.1:1");
  const auto outcomes = TryRanks(1, [&](int) {
    GlooCollective collective(TestWorld(0, 2), store, comm, kRingAlgorithm, "g");
  });
  const CommError error = ErrorOf(outcomes, 0).value();
  EXPECT_EQ(error.peer(), "worker 1");
  EXPECT_THAT(error.what(), HasSubstr("did not connect in time"));
}

TEST(CollectiveFaultTest, APeerThatNeverAnswersIsNamedAtTheStart) {
  InProcessStore store;
  CommOptions comm = TestComm();
  comm.timeout = comm.start_timeout = 200ms;
  const FileDescriptor silent = ListenOnTcp("127.0.0.1");
  store.Set("exchange/g/published/0", TcpEndpointOf(silent.get()));
  const auto outcomes = TryRanks(1, [&](int) {
    GlooCollective collective(TestWorld(1, 2), store, comm, kRingAlgorithm, "g");
  });
  const CommError error = ErrorOf(outcomes, 0).value();
  EXPECT_EQ(error.peer(), "worker 0");
  EXPECT_THAT(error.what(), HasSubstr("did not answer in time"));
}

TEST(CollectiveFaultTest, AWrongTokenIsRefused) {
  InProcessStore store;
  const auto outcomes = TryRanks(2, [&](int rank) {
    CommOptions comm = TestComm();
    if (rank == 1) comm.token = "guess";
    GlooCollective collective(TestWorld(rank, 2), store, comm, kRingAlgorithm, "g");
  });
  EXPECT_EQ(outcomes.failures(), 2);
  const auto error = ErrorOf(outcomes, 0);
  ASSERT_TRUE(error.has_value());
  EXPECT_THAT(error->what(), AnyOf(HasSubstr("token"), HasSubstr("closed")));
}

TEST(CollectiveFaultTest, ANameInsteadOfAnAddressIsRefused) {
  InProcessStore store;
  CommOptions comm = TestComm();
  comm.address = "localhost";
  EXPECT_THROW(GlooCollective(TestWorld(0, 2), store, comm, kRingAlgorithm, "g"), ConfigError);
}

}  // namespace
}  // namespace ringside
