// Tests sums in shared memory, with threads and with processes as ranks.
#include "ringside/ring/shm/shm_collective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/common/core/store.h"
#include "tests/common/numbers.h"
#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::size_t kElements = 1'000'000;  // more than a slot of any world below

CommOptions TestComm() { return {.address = "127.0.0.1", .token = "secret", .timeout = 5s}; }

float ValueOf(int rank, std::size_t i) {
  return static_cast<float>(i % 1000) * static_cast<float>(rank + 1);
}

float SumOf(int ranks, std::size_t i) { return static_cast<float>(i % 1000) * SumUpTo(ranks); }

void ExpectSum(std::span<const float> data, int ranks) {
  for (std::size_t i = 0; i < data.size(); ++i) ASSERT_EQ(data[i], SumOf(ranks, i)) << i;
}

void Fill(std::span<float> data, int rank) {
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = ValueOf(rank, i);
}

class ShmCollectiveTest : public testing::TestWithParam<int> {
 protected:
  using Body = std::function<void(ShmCollective& collective, const FlatSpace& space, int rank)>;

  /// A collective whose ranks have attached to each other's flat vectors.
  void OnEveryRank(std::size_t elements, const Body& body) {
    InProcessStore store;
    const CommOptions comm = TestComm();
    RunRanks(world(), [&](int rank) {
      const FlatSpace space(elements, "test");
      ShmCollective collective(AllOnOneHost(TestWorld(rank, world())), store, comm, "shm");
      collective.Prepare(space, {});
      body(collective, space, rank);
      collective.AllGather({});
    });
  }
  int world() const { return GetParam(); }
};

TEST_P(ShmCollectiveTest, SumsAttachedVectorsWhereTheyLie) {
  OnEveryRank(100'001, [&](ShmCollective& collective, const FlatSpace& space, int rank) {
    const auto n = static_cast<std::size_t>(world());
    for (const std::size_t begin : {0, 1, 17}) {
      for (const std::size_t size : {std::size_t{0}, std::size_t{1}, n - 1, n, n + 1,
                                     std::size_t{4096}, std::size_t{4097}, std::size_t{99'000}}) {
        std::ranges::fill(space.grads(), -1.0F);
        const auto data = space.grads().subspan(begin, size);
        Fill(data, rank);
        const std::uint64_t written = collective.traffic().sent;
        collective.AllReduceSum({.data = data, .offset = begin, .vector = FlatVector::kGrads});
        ExpectSum(data, world());
        // Only who sums in place writes to the memory of others.
        const CacheAlignedChunk mine = ChunkOf(data, world(), rank);
        ASSERT_EQ(collective.traffic().sent - written, sizeof(float) * mine.size() * (n - 1));
        const auto untouched = [](float value) { return value == -1.0F; };
        ASSERT_TRUE(std::ranges::all_of(space.grads().first(begin), untouched));
        ASSERT_TRUE(std::ranges::all_of(space.grads().subspan(begin + size), untouched));
        collective.AllGather({});  // before anybody fills its vector again
      }
    }
  });
}

TEST_P(ShmCollectiveTest, SumsOtherVectorsByWayOfSlots) {
  OnEveryRank(10, [&](ShmCollective& collective, const FlatSpace&, int rank) {
    for (const std::size_t size : {std::size_t{5}, std::size_t{5000}, kElements}) {
      // Each rank's vector begins at another distance from a cache line.
      std::vector<float> memory(size + static_cast<std::size_t>(rank));
      const auto data = std::span(memory).subspan(static_cast<std::size_t>(rank));
      Fill(data, rank);
      collective.AllReduceSum({data});
      ExpectSum(data, world());
    }
  });
}

TEST_P(ShmCollectiveTest, GivesTheBitsOfASumInTheOrderOfRanks) {
  const auto value = [](int rank, std::size_t i) {
    return 1.0F / static_cast<float>(i + 3 * static_cast<std::size_t>(rank) + 1);
  };
  for (const std::size_t elements : {std::size_t{1000}, std::size_t{70'001}}) {
    OnEveryRank(elements, [&](ShmCollective& collective, const FlatSpace& space, int rank) {
      std::vector<float> elsewhere(elements);
      for (std::size_t i = 0; i < elements; ++i) space.grads()[i] = elsewhere[i] = value(rank, i);
      collective.AllReduceSum({.data = space.grads(), .vector = FlatVector::kGrads});
      collective.AllReduceSum({elsewhere});
      for (std::size_t i = 0; i < elements; ++i) {
        float sum = value(0, i);
        for (int other = 1; other < world(); ++other) sum += value(other, i);
        ASSERT_EQ(space.grads()[i], sum) << i;
        ASSERT_EQ(elsewhere[i], sum) << i;
      }
    });
  }
}

TEST_P(ShmCollectiveTest, ReducesToChunksAndGathersThem) {
  OnEveryRank(100'001, [&](ShmCollective& collective, const FlatSpace& space, int rank) {
    for (const int chunks : {1, world()}) {
      std::vector<float> elsewhere(50'000);
      for (const FlatVector vector : {FlatVector::kGrads, FlatVector::kNone}) {
        const BucketMessage whole{
            vector == FlatVector::kGrads ? space.grads().subspan(500) : std::span(elsewhere),
            /*offset=*/500, /*bucket=*/3, /*step=*/17, vector};
        const BucketMessage piece =
            whole.Piece(0, std::min(whole.data.size(), collective.PieceElements(whole)));
        const std::span<float> data = piece.data;
        Fill(data, rank);
        const BucketMessage chunk = collective.ReduceScatter(piece, chunks);
        EXPECT_EQ(chunk.data.empty(), rank >= chunks);
        EXPECT_EQ(chunk.bucket, piece.bucket);
        EXPECT_EQ(chunk.step, piece.step);
        for (std::size_t i = 0; i < chunk.data.size(); ++i) {
          ASSERT_EQ(chunk.data[i], SumOf(world(), chunk.offset - 500 + i)) << i;
        }
        for (float& element : chunk.data) element *= 2;  // as other hosts add theirs
        collective.AllGatherChunks(piece, chunks);
        for (std::size_t i = 0; i < data.size(); ++i) {
          ASSERT_EQ(data[i], 2 * SumOf(world(), i)) << i;
        }
        collective.AllGather({});
      }
    }
  });
}

TEST_P(ShmCollectiveTest, RefusesDataThatAreNotWhereTheMessageSays) {
  OnEveryRank(1000, [&](ShmCollective& collective, const FlatSpace& space, int) {
    std::vector<float> elsewhere(100);
    const auto part = space.grads().subspan(10, 100);
    const std::vector<BucketMessage> wrong{
        {.data = elsewhere, .bucket = 2, .vector = FlatVector::kGrads},
        {.data = part, .bucket = 2, .vector = FlatVector::kGrads},
        {.data = part, .offset = 10, .bucket = 2, .vector = FlatVector::kParams},
        {.data = part, .offset = 990, .bucket = 2, .vector = FlatVector::kGrads},
        {.data = part, .offset = 2000, .bucket = 2, .vector = FlatVector::kGrads}};
    for (const BucketMessage& message : wrong) {
      EXPECT_THROW(collective.spaces().Contains(message), InternalError);
    }
    EXPECT_TRUE(
        collective.spaces().Contains({.data = part, .offset = 10, .vector = FlatVector::kGrads}));
    EXPECT_FALSE(collective.spaces().Contains({.data = part, .offset = 10}));
  });
}

TEST_P(ShmCollectiveTest, BroadcastsFromEveryRoot) {
  OnEveryRank(50'000, [&](ShmCollective& collective, const FlatSpace& space, int rank) {
    std::vector<float> elsewhere(kElements);
    for (int root = 0; root < world(); ++root) {
      for (const std::span<float> data : {space.params(), std::span(elsewhere)}) {
        std::ranges::fill(data, static_cast<float>(rank));
        collective.Broadcast(std::as_writable_bytes(std::span(data)), root);
        const auto is_roots = [&](float value) { return value == static_cast<float>(root); };
        ASSERT_TRUE(std::ranges::all_of(data, is_roots));
        collective.AllGather({});
      }
    }
  });
}

TEST_P(ShmCollectiveTest, GathersByRankWhateverTheSize) {
  OnEveryRank(10, [&](ShmCollective& collective, const FlatSpace&, int rank) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{3'000'000}}) {
      const std::vector<std::byte> mine(size, static_cast<std::byte>(rank));
      const auto all = collective.AllGather(mine);
      ASSERT_EQ(all.size(), size * static_cast<std::size_t>(world()));
      for (std::size_t i = 0; i < all.size(); ++i) {
        ASSERT_EQ(all[i], static_cast<std::byte>(i / size));
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, ShmCollectiveTest, testing::Values(1, 2, 3, 4, 7));

/// More ranks than any test machine has cores.
class CrowdedShmCollectiveTest : public ShmCollectiveTest {};

TEST_P(CrowdedShmCollectiveTest, Sums) {
  OnEveryRank(20'000, [&](ShmCollective& collective, const FlatSpace& space, int rank) {
    for (int round = 0; round < 5; ++round) {
      for (const std::size_t size : {std::size_t{100}, std::size_t{20'000}}) {
        const auto data = space.grads().first(size);
        Fill(data, rank);
        collective.AllReduceSum({.data = data, .vector = FlatVector::kGrads});
        ExpectSum(data, world());
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, CrowdedShmCollectiveTest, testing::Values(16, 64));

/// The message of the error that a rank's collective threw; empty when it threw none.
std::optional<CommError> ErrorOf(const RankOutcomes& outcomes, int rank) {
  try {
    const auto& failure = outcomes.by_rank[static_cast<std::size_t>(rank)];
    if (failure != nullptr) std::rethrow_exception(failure);
  } catch (const CommError& error) {
    return error;
  }
  return std::nullopt;
}

TEST(ShmCollectiveFaultTest, EveryRankNamesThePeerThatLeft) {
  InProcessStore store;
  CommOptions comm = TestComm();
  comm.timeout = 1h;  // nobody waits for it
  const auto outcomes = TryRanks(4, [&](int rank) {
    ShmCollective collective(AllOnOneHost(TestWorld(rank, 4)), store, comm, "shm");
    std::vector<float> data(100'000, 1.0F);
    collective.AllReduceSum({.data = data, .bucket = 0});
    if (rank == 2) return;
    collective.AllReduceSum({.data = data, .bucket = 1});
  });
  for (const int rank : {0, 1, 3}) {
    const auto error = ErrorOf(outcomes, rank);
    ASSERT_TRUE(error.has_value()) << rank;
    EXPECT_EQ(error->peer(), "worker 2") << error->what();
    EXPECT_EQ(error->operation(), "all-reduce of bucket 1, step 0");
    EXPECT_THAT(error->what(), HasSubstr("it has left"));
  }
  EXPECT_FALSE(ErrorOf(outcomes, 2).has_value()) << "all had what it owed them";
}

TEST(ShmCollectiveFaultTest, ASilentPeerIsMissedAfterTheTimeout) {
  InProcessStore store;
  CommOptions comm = TestComm();
  comm.timeout = 200ms;
  const auto outcomes = TryRanks(3, [&](int rank) {
    ShmCollective collective(AllOnOneHost(TestWorld(rank, 3)), store, comm, "shm");
    if (rank == 1) {  // stays until the others have given up
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
    EXPECT_THAT(error->what(), HasSubstr("within 200 ms"));
  }
}

TEST(ShmCollectiveFaultTest, AfterAFailureEveryCallThrowsTheSame) {
  InProcessStore store;
  const CommOptions comm = TestComm();
  TryRanks(2, [&](int rank) {
    ShmCollective collective(AllOnOneHost(TestWorld(rank, 2)), store, comm, "shm");
    if (rank == 1) return;
    std::vector<float> data(10, 1.0F);
    const auto error_of = [](const std::function<void()>& call) -> std::string {
      try {
        call();
      } catch (const CommError& error) {
        return error.what();
      }
      ADD_FAILURE() << "worker 1 is gone";
      return "";
    };
    const std::string first =
        error_of([&] { collective.AllReduceSum({.data = data, .bucket = 0}); });
    EXPECT_EQ(error_of([&] { collective.Broadcast(std::as_writable_bytes(std::span(data)), 0); }),
              first);
  });
}

TEST(ShmCollectiveFaultTest, AMissingRankIsNamedAtTheStart) {
  for (const int missing : {0, 2}) {
    InProcessStore store;
    CommOptions comm = TestComm();
    comm.timeout = comm.start_timeout = 200ms;
    const auto outcomes = TryRanks(3, [&](int rank) {
      if (rank == missing) return;
      ShmCollective collective(AllOnOneHost(TestWorld(rank, 3)), store, comm, "shm");
    });
    for (int rank = 0; rank < 3; ++rank) {
      if (rank == missing) continue;
      EXPECT_EQ(ErrorOf(outcomes, rank).value().peer(), "worker " + std::to_string(missing));
    }
  }
}

TEST(ShmCollectiveFaultTest, AKilledProcessIsNamedLongBeforeTheTimeout) {
  InProcessStore store;
  CommOptions comm = TestComm();
  comm.timeout = 1h;
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  // The child is rank 1 of a group whose memory the parent has announced beforehand.
  const pid_t child = fork();
  if (child == 0) {
    char handle[256] = {};
    if (read(told[0], handle, sizeof(handle)) <= 0) _exit(1);
    store.Set("shm/memory", handle);
    ShmCollective collective(AllOnOneHost(TestWorld(1, 2)), store, comm, "shm");
    std::vector<float> data(10, 1.0F);
    collective.AllReduceSum({.data = data, .bucket = 0});
    raise(SIGKILL);
  }
  const auto outcomes = TryRanks(2, [&](int rank) {
    if (rank == 1) {
      const std::string handle = store.Get("shm/memory", Deadline::After(5s));
      EXPECT_GT(write(told[1], handle.data(), handle.size()), 0);
      return;
    }
    ShmCollective collective(AllOnOneHost(TestWorld(0, 2)), store, comm, "shm");
    std::vector<float> data(10, 1.0F);
    collective.AllReduceSum({.data = data, .bucket = 0});
    EXPECT_EQ(data[0], 2.0F);
    collective.AllReduceSum({.data = data, .bucket = 1});
  });
  waitpid(child, nullptr, 0);
  close(told[0]);
  close(told[1]);
  const CommError error = ErrorOf(outcomes, 0).value();
  EXPECT_EQ(error.peer(), "worker 1");
  EXPECT_THAT(error.what(), HasSubstr("its process has ended"));
}

}  // namespace
}  // namespace ringside
