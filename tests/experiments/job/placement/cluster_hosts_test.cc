#include "ringside/experiments/job/placement/cluster_hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/files/files.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Hostfile, ListsHostsWithTheirSlots) {
  const ClusterHosts cluster = ParseHostfile(
      "# two machines\n\nnode-1 slots=4   # the big one\n\tnode-2\r\n10.0.0.3 slots=3 servers=1\n"
      "node-4 servers=2\nnode-5 slots=0\n",
      "hosts.txt");
  ASSERT_EQ(cluster.hosts.size(), 5U);
  EXPECT_EQ(cluster.origin, "hosts.txt");
  EXPECT_EQ(cluster.hosts[0].name, "node-1");
  EXPECT_EQ(cluster.hosts[0].slots, 4);
  EXPECT_EQ(cluster.hosts[0].servers, std::nullopt);
  EXPECT_EQ(cluster.hosts[0].origin, "hosts.txt:3");
  EXPECT_EQ(cluster.hosts[1].slots, 1);
  EXPECT_EQ(cluster.hosts[2].slots, 3);
  EXPECT_EQ(cluster.hosts[2].servers, 1);
  EXPECT_EQ(cluster.hosts[3].slots, 2) << "as many as its servers";
  EXPECT_EQ(cluster.hosts[4].slots, 0);
}

TEST(Hostfile, WrongLinesAreRefusedByNumber) {
  const auto refusal = [](const std::string& text) {
    try {
      ParseHostfile(text, "h");
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal("a slots=2\nb slot=2\n"), "h:2: 'slot=2' is neither slots=N nor servers=M");
  EXPECT_EQ(refusal("a slots"), "h:1: 'slots' is neither slots=N nor servers=M");
  for (const char* count : {"", "x", "-1", "1.5", "5000", "99999999999999999999"}) {
    EXPECT_EQ(refusal(std::string("a slots=") + count),
              std::string("h:1: 'slots=") + count + "': expected a number from 0 to 4096");
  }
  EXPECT_THAT(refusal("a slots=1 servers=2"), HasSubstr("h:1: 2 servers do not fit into 1 slots"));
  EXPECT_THAT(refusal("slots=2"), HasSubstr("h:1: 'slots=2' is not the name of a host"));
  EXPECT_THAT(refusal("a:2"), HasSubstr("'a:2' is not the name of a host"));
  EXPECT_THAT(refusal("-oProxyCommand"), HasSubstr("is not the name of a host"));
  EXPECT_EQ(refusal("a\nb\na\n"), "h:3: host 'a' is listed already, at h:1");
  EXPECT_EQ(refusal("# none\n\n"), "h: no host is listed");
}

TEST(Hostfile, AMissingFileIsNamed) {
  EXPECT_THAT([] { ReadHostfile("/nowhere/hosts.txt"); },
              ThrowsMessage<DataError>(HasSubstr("/nowhere/hosts.txt")));
}

/// A directory with a `scontrol` that expands every list to n1, n2.
class SlurmAllocationTest : public ::testing::Test {
 protected:
  SlurmAllocationTest() {
    const std::string scontrol = directory_.Path("scontrol");
    WriteFileAtomically(scontrol,
                        "#!/bin/sh\n[ \"$1 $2 $3\" = 'show hostnames n[1-2]' ] || exit 7\n"
                        "echo n1; echo n2\n");
    ::chmod(scontrol.c_str(), 0700);
  }

  Environment Job(const std::string& tasks) const {
    return {
        {"SLURM_JOB_ID", "17"}, {"SLURM_JOB_NODELIST", "n[1-2]"}, {"SLURM_TASKS_PER_NODE", tasks}};
  }

  const TemporaryDirectory directory_;
  const ScopedVariable path_{"PATH", directory_.path() + ":/usr/bin:/bin"};
};

TEST_F(SlurmAllocationTest, HasASlotForEachTask) {
  const auto cluster = SlurmAllocation(Job("3,1"));
  ASSERT_TRUE(cluster);
  EXPECT_EQ(cluster->origin, "Slurm job 17");
  ASSERT_EQ(cluster->hosts.size(), 2U);
  EXPECT_EQ(cluster->hosts[0].name, "n1");
  EXPECT_EQ(cluster->hosts[0].slots, 3);
  EXPECT_EQ(cluster->hosts[1].name, "n2");
  EXPECT_EQ(cluster->hosts[1].slots, 1);
  EXPECT_EQ(SlurmAllocation(Job("2(x2)"))->hosts[1].slots, 2);
  EXPECT_EQ(SlurmAllocation(Job(""))->hosts[1].slots, 1);
}

TEST_F(SlurmAllocationTest, IsAbsentOutsideOfAJob) {
  EXPECT_FALSE(SlurmAllocation({}));
  EXPECT_FALSE(SlurmAllocation({{"SLURM_JOB_ID", "17"}}));
}

TEST_F(SlurmAllocationTest, DisagreementsAndFailuresAreRefused) {
  EXPECT_THAT([this] { SlurmAllocation(Job("3")); },
              ThrowsMessage<ConfigError>(HasSubstr("SLURM_TASKS_PER_NODE=3 has 1 nodes")));
  EXPECT_THAT([this] { SlurmAllocation(Job("3,x")); },
              ThrowsMessage<ConfigError>(HasSubstr("expected numbers of tasks")));
  Environment other = Job("3,1");
  other["SLURM_JOB_NODELIST"] = "m[1-2]";
  EXPECT_THAT([&] { SlurmAllocation(other); },
              ThrowsMessage<MissingBackendError>(HasSubstr("exited with code 7")));
  const ScopedVariable nowhere("PATH", "/nowhere");
  EXPECT_THAT([this] { SlurmAllocation(Job("3,1")); },
              ThrowsMessage<MissingBackendError>(HasSubstr("scontrol")));
}

}  // namespace
}  // namespace ringside
