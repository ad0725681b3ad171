#include "ringside/experiments/job/placement/emulated_hosts.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace ringside {
namespace {

World Dealt(int rank, int workers, int hosts) {
  World world{.rank = rank, .workers = workers};
  AssignWorkersToHosts(world, hosts);
  return world;
}

TEST(EmulatedHostsTest, NoneLeaveTheWorldAsItIs) {
  const World world = Dealt(1, 4, 0);
  EXPECT_EQ(world.host, World().host);
  EXPECT_EQ(world.local_workers, World().local_workers);
}

TEST(EmulatedHostsTest, GetBlocksOfNearlyEqualSize) {
  for (int workers = 1; workers <= 9; ++workers) {
    for (int hosts = 1; hosts <= workers; ++hosts) {
      std::map<std::string, std::vector<World>> by_host;
      std::string last;
      for (int rank = 0; rank < workers; ++rank) {
        const World world = Dealt(rank, workers, hosts);
        auto& here = by_host[world.host];
        EXPECT_TRUE(here.empty() || world.host == last) << "a block is not in one piece";
        EXPECT_EQ(world.local_rank, static_cast<int>(here.size()));
        here.push_back(world);
        last = world.host;
      }
      ASSERT_EQ(static_cast<int>(by_host.size()), hosts);
      for (const auto& [name, here] : by_host) {
        const int size = static_cast<int>(here.size());
        EXPECT_GE(size, workers / hosts);
        EXPECT_LE(size, (workers + hosts - 1) / hosts);
        for (const World& world : here) EXPECT_EQ(world.local_workers, size);
      }
    }
  }
}

}  // namespace
}  // namespace ringside
