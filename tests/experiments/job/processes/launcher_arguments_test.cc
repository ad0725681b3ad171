// The command lines of mpirun and srun.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ringside/experiments/job/processes/mpirun.h"
#include "ringside/experiments/job/processes/srun.h"

namespace ringside {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

TEST(MpirunArguments, NumberTheProcessesInTheOrderOfTheirHosts) {
  const std::vector<std::string> argv = MpirunArguments({.mpirun = "mpirun",
                                                         .cores = 4,
                                                         .command = {"ringside", "agent"},
                                                         .hosts = {"a", "a", "b", "a"},
                                                         .variables = {"PATH"}});
  const auto first = std::ranges::find(argv, "-np");
  EXPECT_THAT(std::vector<std::string>(first, argv.end()),
              ElementsAre("-np", "2", "--host", "a:2", "-x", "PATH", "ringside", "agent", ":",  //
                          "-np", "1", "--host", "b:1", "-x", "PATH", "ringside", "agent", ":",  //
                          "-np", "1", "--host", "a:1", "-x", "PATH", "ringside", "agent"));
  // MPI's data has to reach other hosts.
  EXPECT_THAT(argv, Not(Contains("self,vader")));
}

TEST(MpirunArguments, LeaveTheNamesOfHostsWhole) {
  const auto is_option = [](const std::vector<std::string>& argv) {
    const auto found = std::ranges::find(argv, "orte_keep_fqdn_hostnames");
    // Options for all parts of the command line come before the first part.
    return found != argv.end() && found[-1] == "--mca" && found[1] == "1" &&
           found < std::ranges::find(argv, "-np");
  };
  EXPECT_TRUE(is_option(MpirunArguments({.mpirun = "mpirun", .hosts = {"node-1.example"}})));
  EXPECT_FALSE(is_option(MpirunArguments({.mpirun = "mpirun", .workers = 2})));
}

TEST(SrunArguments, PutEveryProcessOnItsNode) {
  const std::vector<std::string> argv = SrunArguments(
      {.srun = "/usr/bin/srun", .processes = 5, .hosts = 2, .command = {"ringside", "agent"}});
  EXPECT_EQ(argv.front(), "/usr/bin/srun");
  EXPECT_THAT(argv, Contains("--ntasks=5"));
  EXPECT_THAT(argv, Contains("--nodes=2"));
  EXPECT_THAT(argv, Contains("--distribution=arbitrary"));
  EXPECT_EQ(argv.back(), "agent");
}

}  // namespace
}  // namespace ringside
