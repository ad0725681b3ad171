#include "ringside/experiments/job/placement/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

ClusterHosts Cluster(const std::string& text) { return ParseHostfile(text, "hosts.txt"); }

TEST(Placement, FillsHostsInTheirOrder) {
  const Placement placement = PlaceOn(Cluster("a slots=3\nb slots=1\nc slots=4\n"), 4, 2);
  EXPECT_THAT(placement.hosts, ElementsAre("a", "b", "c"));
  EXPECT_THAT(placement.workers, ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(placement.servers, ElementsAre(2, 2));
  EXPECT_EQ(placement.processes(), 6);
  EXPECT_EQ(placement.HostOf(3), "b");
  EXPECT_EQ(placement.HostOf(4), "c");
  EXPECT_EQ(placement.MemberOf(3), (Member{Role::kWorker, 3}));
  EXPECT_EQ(placement.MemberOf(5), (Member{Role::kServer, 1}));
}

TEST(Placement, HostsThatAreNotNeededAreNotNamed) {
  EXPECT_THAT(PlaceOn(Cluster("a slots=0\nb slots=2\nc\n"), 2, 0).hosts, ElementsAre("b"));
}

TEST(Placement, ServersTakeWhatTheWorkersHaveLeft) {
  const Placement placement = PlaceOn(Cluster("a slots=3\nb slots=2\n"), 2, 3);
  EXPECT_THAT(placement.workers, ElementsAre(0, 0));
  EXPECT_THAT(placement.servers, ElementsAre(0, 1, 1));
}

TEST(Placement, SlotsForServersAreForServersAlone) {
  const Placement placement =
      PlaceOn(Cluster("a slots=2 servers=1\nb slots=2\nc servers=2\n"), 3, 2);
  EXPECT_THAT(placement.hosts, ElementsAre("a", "b", "c"));
  EXPECT_THAT(placement.workers, ElementsAre(0, 1, 1));
  EXPECT_THAT(placement.servers, ElementsAre(0, 2));
}

TEST(Placement, CountsTheWorkersOfAHost) {
  const Placement placement = PlaceOn(Cluster("a slots=3\nb slots=2\n"), 4, 1);
  EXPECT_EQ(placement.PlaceOf({Role::kWorker, 2}).rank, 2);
  EXPECT_EQ(placement.PlaceOf({Role::kWorker, 2}).workers, 3);
  EXPECT_EQ(placement.PlaceOf({Role::kWorker, 3}).rank, 0);
  EXPECT_EQ(placement.PlaceOf({Role::kWorker, 3}).workers, 1);
}

TEST(Placement, TooFewSlotsAreRefused) {
  const auto refusal = [](const std::string& hosts, int workers, int servers) {
    try {
      PlaceOn(Cluster(hosts), workers, servers);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal("a slots=2\nb\n", 4, 0),
            "hosts.txt: 4 workers need a slot each, but the 2 hosts listed have 3 slots");
  EXPECT_EQ(refusal("a\n", 1, 1),
            "hosts.txt: 1 workers and 1 dedicated servers need a slot each, but there are 1 slots");
  EXPECT_EQ(refusal("a slots=4 servers=1\n", 1, 2),
            "hosts.txt: 2 dedicated servers need a slot each, but the 1 host listed has 1 slots "
            "for servers");
  EXPECT_EQ(refusal("a slots=4 servers=3\n", 2, 2),
            "hosts.txt: 2 workers need a slot each, but the 1 host listed has 1 slots for workers");
}

TEST(Placement, IsTheSameAfterTheWay) {
  const Placement placement = PlaceOn(Cluster("a slots=3\nb slots=2\n"), 4, 1);
  const auto again = nlohmann::json::parse(nlohmann::json(placement).dump()).get<Placement>();
  EXPECT_EQ(again.hosts, placement.hosts);
  EXPECT_EQ(again.workers, placement.workers);
  EXPECT_EQ(again.servers, placement.servers);
}

TEST(Placement, HereIsWithoutAName) {
  const Placement here = PlaceHere(2, 1);
  EXPECT_TRUE(here.is_here());
  EXPECT_THAT(here.workers, ElementsAre(0, 0));
  EXPECT_THAT(here.servers, ElementsAre(0));
  EXPECT_FALSE(PlaceOn(Cluster("localhost slots=2\n"), 2, 0).is_here());
  EXPECT_THAT(PlaceHere(1, 0).servers, IsEmpty());
}

}  // namespace
}  // namespace ringside
