// Tests sums over several hosts. The workers are threads of one process. Shared memory joins those
// of a host, and Gloo on loopback joins the hosts.
#include "ringside/ring/collectives/hierarchical_collective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/common/core/store.h"
#include "ringside/ring/algorithms/ring_algorithms.h"
#include "ringside/ring/collectives/all_reduce_host_collective.h"
#include "ringside/ring/collectives/collective_table.h"
#include "ringside/ring/core/failure_attribution.h"
#include "ringside/ring/transports/gloo_collective.h"
#include "tests/common/numbers.h"
#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

TEST(HostMapTest, GroupsWorkersByTheNamesOfTheirHosts) {
  const std::vector<std::string> names{"b", "a", "b", "c", "a", "b"};
  const HostMap map = MapHosts(4, names);
  EXPECT_THAT(map.hosts, ElementsAre(std::vector{0, 2, 5}, std::vector{1, 4}, std::vector{3}));
  EXPECT_EQ(map.host, 1);
  EXPECT_EQ(map.here.rank, 1);
  EXPECT_THAT(map.here.workers, ElementsAre(1, 4));
  EXPECT_EQ(map.smallest(), 1);
  EXPECT_THAT(map.Lane(0), ElementsAre(0, 1, 3));
}

/// The host of every worker.
using Hosts = std::vector<std::string>;

CommOptions TestComm() { return {.address = "127.0.0.1", .token = "secret", .timeout = 5s}; }

World WorldOf(const Hosts& hosts, int rank) {
  World world = TestWorld(rank, static_cast<int>(hosts.size()));
  world.host = hosts[static_cast<std::size_t>(rank)];
  return world;
}

class HierarchicalCollectiveTest : public testing::TestWithParam<Hosts> {
 protected:
  using Body = std::function<void(Collective& collective, const FlatSpace& space, int rank)>;

  void OnEveryRank(const Body& body) {
    InProcessStore store;
    const CommOptions comm = TestComm();
    const StrategyOptions options;
    RunRanks(workers(), [&](int rank) {
      const World world = WorldOf(GetParam(), rank);
      const FlatSpace space(100'001, "test");
      const auto collective =
          HierarchicalCollectiveEntry().make({world, store, comm, options, "hierarchy"});
      collective->Prepare(space, {});
      body(*collective, space, rank);
      collective->AllGather({});
    });
  }
  int workers() const { return static_cast<int>(GetParam().size()); }
};

TEST_P(HierarchicalCollectiveTest, SumsExactlyWhereverTheVectorsLie) {
  const auto n = static_cast<std::size_t>(workers());
  OnEveryRank([&](Collective& collective, const FlatSpace& space, int rank) {
    std::vector<float> elsewhere(200'000);
    for (const FlatVector vector : {FlatVector::kGrads, FlatVector::kNone}) {
      const auto whole = vector == FlatVector::kGrads ? space.grads() : std::span(elsewhere);
      for (const std::size_t size :
           {std::size_t{0}, std::size_t{1}, n - 1, n, n + 1, std::size_t{70'001}, whole.size()}) {
        const auto data = whole.last(size);
        for (std::size_t i = 0; i < size; ++i) {
          data[i] = static_cast<float>(i % 1000) * static_cast<float>(rank + 1);
        }
        collective.AllReduceSum({.data = data, .offset = whole.size() - size, .vector = vector});
        const float factor = SumUpTo(n);
        for (std::size_t i = 0; i < size; ++i) {
          ASSERT_EQ(data[i], static_cast<float>(i % 1000) * factor) << "element " << i;
        }
        collective.AllGather({});  // before anybody fills its vector again
      }
    }
  });
}

TEST_P(HierarchicalCollectiveTest, GivesTheSameBitsOnEveryRankAndInEveryRun) {
  std::vector<std::vector<float>> results;
  for (int run = 0; run < 2; ++run) {
    std::vector<std::vector<float>> by_rank(GetParam().size());
    OnEveryRank([&](Collective& collective, const FlatSpace& space, int rank) {
      for (std::size_t i = 0; i < space.size(); ++i) {
        space.grads()[i] = 1.0F / static_cast<float>(i + 3 * static_cast<std::size_t>(rank) + 1);
      }
      collective.AllReduceSum({.data = space.grads(), .vector = FlatVector::kGrads});
      by_rank[static_cast<std::size_t>(rank)].assign(space.grads().begin(), space.grads().end());
    });
    std::ranges::copy(by_rank, std::back_inserter(results));
  }
  for (const auto& result : results) {
    ASSERT_TRUE(SameBits(result, results[0]));
  }
}

TEST_P(HierarchicalCollectiveTest, BroadcastsFromEveryRoot) {
  OnEveryRank([&](Collective& collective, const FlatSpace& space, int rank) {
    for (int root = 0; root < workers(); ++root) {
      std::ranges::fill(space.params(), static_cast<float>(rank));
      collective.AllGather({});
      collective.Broadcast(std::as_writable_bytes(space.params()), root);
      const auto is_roots = [&](float value) { return value == static_cast<float>(root); };
      ASSERT_TRUE(std::ranges::all_of(space.params(), is_roots));
    }
  });
}

TEST_P(HierarchicalCollectiveTest, GathersByRank) {
  OnEveryRank([&](Collective& collective, const FlatSpace&, int rank) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{70'001}}) {
      const std::vector<std::byte> mine(size, static_cast<std::byte>(rank));
      const auto all = collective.AllGather(mine);
      ASSERT_EQ(all.size(), size * GetParam().size());
      for (std::size_t i = 0; i < all.size(); ++i) {
        ASSERT_EQ(all[i], static_cast<std::byte>(i / size));
      }
    }
  });
}

TEST_P(HierarchicalCollectiveTest, EachElementLeavesAHostOnceForAllItsWorkers) {
  std::vector<std::uint64_t> sent(GetParam().size());
  OnEveryRank([&](Collective& collective, const FlatSpace& space, int rank) {
    const std::uint64_t before = collective.traffic().sent;
    collective.AllReduceSum({.data = space.grads(), .vector = FlatVector::kGrads});
    sent[static_cast<std::size_t>(rank)] = collective.traffic().sent - before;
  });
  const HostMap map = MapHosts(0, GetParam());
  const auto hosts = static_cast<double>(map.hosts.size());
  for (const auto& workers : map.hosts) {
    double of_host = 0;
    for (const int worker : workers)
      of_host += static_cast<double>(sent.at(static_cast<std::size_t>(worker)));
    EXPECT_NEAR(of_host, 2 * (hosts - 1) / hosts * 100'001 * sizeof(float), 64);
  }
}

INSTANTIATE_TEST_SUITE_P(Topologies, HierarchicalCollectiveTest,
                         testing::Values(Hosts{"a"}, Hosts{"a", "a", "a"}, Hosts{"a", "b"},
                                         Hosts{"a", "a", "b", "b"}, Hosts{"a", "b", "a", "b"},
                                         Hosts{"a", "a", "a", "b"},
                                         Hosts{"a", "a", "b", "c", "b", "c", "c"}),
                         [](const auto& topology) {
                           return std::accumulate(topology.param.begin(), topology.param.end(),
                                                  std::string());
                         });

/// Sums inside a host by one whole all-reduce over Gloo, as NCCL does: not in two halves.
std::unique_ptr<Collective> HierarchyOnGloo(const Hosts& hosts, const World& world, Store& store,
                                            const CommOptions& comm) {
  HierarchyParts parts{.map = MapHosts(world.rank, hosts), .inner = nullptr, .outer = nullptr};
  const auto gloo = [&](int rank, std::vector<int> workers, const std::string& prefix) {
    World among = world;
    among.rank = rank;
    among.workers = static_cast<int>(workers.size());
    return std::make_unique<GlooCollective>(among, store, comm, kRingAlgorithm, prefix,
                                            std::move(workers));
  };
  const HostMap& map = parts.map;
  parts.inner = std::make_unique<AllReduceHostCollective>(
      gloo(map.here.rank, map.here.workers, "host " + std::to_string(map.host)), map.here.rank);
  if (map.hosts.size() > 1 && map.here.rank < map.smallest()) {
    const std::string prefix = "lane " + std::to_string(map.here.rank);
    parts.outer = gloo(map.host, map.Lane(map.here.rank), prefix);
  }
  return std::make_unique<HierarchicalCollective>(std::move(parts), world.rank, store, "hierarchy");
}

TEST_P(HierarchicalCollectiveTest, StandsOnACollectiveThatKnowsNoHalves) {
  InProcessStore store;
  const CommOptions comm = TestComm();
  RunRanks(workers(), [&](int rank) {
    const auto collective = HierarchyOnGloo(GetParam(), WorldOf(GetParam(), rank), store, comm);
    const auto n = static_cast<std::size_t>(workers());
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, n + 1, std::size_t{70'001}}) {
      std::vector<float> data(size);
      for (std::size_t i = 0; i < size; ++i) {
        data[i] = static_cast<float>(i % 1000) * static_cast<float>(rank + 1);
      }
      collective->AllReduceSum({data});
      const float factor = SumUpTo(n);
      for (std::size_t i = 0; i < size; ++i) {
        ASSERT_EQ(data[i], static_cast<float>(i % 1000) * factor) << "element " << i;
      }
    }
    const auto all = collective->AllGather(std::vector<std::byte>(3, std::byte(rank)));
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], std::byte(i / 3));
  });
}

TEST(HierarchicalCollectiveFaultTest, EveryRankOfEveryHostNamesTheOneThatLeft) {
  const Hosts hosts{"a", "a", "b", "b"};
  for (int leaver = 0; leaver < 4; ++leaver) {
    InProcessStore store;
    const CommOptions comm = TestComm();
    const StrategyOptions options;
    const auto outcomes = TryRanks(4, [&](int rank) {
      const World world = WorldOf(hosts, rank);
      const auto collective =
          HierarchicalCollectiveEntry().make({world, store, comm, options, "hierarchy"});
      std::vector<float> data(100'000, 1.0F);
      collective->AllReduceSum({.data = data, .bucket = 0});
      collective->AllGather({});
      if (rank == leaver) return;
      for (int i = 0; i < 2; ++i) collective->AllReduceSum({.data = data, .bucket = 1});
    });
    EXPECT_EQ(outcomes.failures(), 3);
    for (const auto& failure : outcomes.by_rank) {
      try {
        if (failure != nullptr) std::rethrow_exception(failure);
      } catch (const CommError& error) {
        EXPECT_EQ(error.peer(), "worker " + std::to_string(leaver)) << error.what();
        EXPECT_THAT(error.operation(), testing::HasSubstr("bucket 1")) << error.what();
        const std::string text = error.what();
        const std::size_t first = text.find(error.operation());
        EXPECT_EQ(text.find(error.operation(), first + 1), std::string::npos) << text;
      }
    }
  }
}

/// A store that says how long it was asked to wait at most for a key that nobody sets.
class PatientStore : public InProcessStore {
 public:
  std::string Get(std::string_view key, const Deadline& deadline) override {
    longest_ = std::max(longest_, deadline.remaining());
    return InProcessStore::Get(key, Deadline::After(0ms));
  }
  std::chrono::milliseconds longest() const { return longest_; }

 private:
  std::chrono::milliseconds longest_{0};
};

/// Fails if it is asked to.
class OneCollective : public Collective {
 public:
  explicit OneCollective(bool fails) : fails_(fails) {}
  void AllReduceSum(const BucketMessage& /*message*/) override { Step(); }
  void Broadcast(std::span<std::byte> /*data*/, int /*root*/) override { Step(); }
  void AllGatherInto(std::span<const std::byte> mine, std::vector<std::byte>& all) override {
    all.assign(mine.begin(), mine.end());
    Step();
  }
  Traffic traffic() const override { return {}; }

 private:
  void Step() const {
    if (fails_) throw CommError("worker 1", "all-reduce of bucket 0", "it has gone");
  }

  const bool fails_;
};

TEST(HierarchicalCollectiveFaultTest, WaitsForNotesOnceOnly) {
  constexpr std::chrono::milliseconds kWhole = kReportGrace;
  for (const bool lane_fails : {true, false}) {
    PatientStore store;
    HierarchyParts parts{.map = MapHosts(0, Hosts{"a", "b"}),
                         .inner = std::make_unique<AllReduceHostCollective>(
                             std::make_unique<OneCollective>(!lane_fails), 0),
                         .outer = std::make_unique<OneCollective>(lane_fails)};
    HierarchicalCollective collective(std::move(parts), 0, store, "hierarchy");
    std::vector<float> data(10, 1.0F);
    EXPECT_THROW(collective.AllReduceSum({.data = data, .bucket = 0}), CommError);
    EXPECT_THAT(store.longest(),
                testing::Conditional(lane_fails, testing::Lt(kWhole / 2), testing::Gt(kWhole / 2)));
  }
}

}  // namespace
}  // namespace ringside
