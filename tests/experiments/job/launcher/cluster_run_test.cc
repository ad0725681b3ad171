#include "ringside/experiments/job/launcher/cluster_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/files/find_program.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

/// Runs whose hosts are in a file.
class ClusterRunTest : public ::testing::Test {
 protected:
  JobOptions On(const std::string& hosts) const {
    const std::string path = directory_.Path("hosts.txt");
    WriteFileAtomically(path, hosts);
    JobOptions options{.bundle_dir = "run"};
    options.launcher = {.program = LauncherProgram::kMpirun, .hostfile = path};
    return options;
  }

  /// The same, with the address of this machine: nothing has to lead to the hosts.
  JobOptions WithAddress(const std::string& hosts) const {
    JobOptions options = On(hosts);
    options.address = "127.0.0.9";
    options.address_given = true;
    return options;
  }

  const RunSpec spec_ = ProfileSpec("ring", 2, 3);
  const TemporaryDirectory directory_;
};

TEST_F(ClusterRunTest, WithoutAnotherLauncherThereIsNoAgent) {
  const JobOptions options{.bundle_dir = "run"};
  EXPECT_FALSE(PlanAgents(ProfileSpec("ring", 2, 3), options, {}));
  const auto mpi = PlanAgents(ProfileSpec("mpi", 2, 3), options, {});
  ASSERT_TRUE(mpi);
  EXPECT_TRUE(mpi->placement.is_here());
}

TEST_F(ClusterRunTest, HostsOfThisMachineUseLoopback) {
  const RunSpec spec = ProfileSpec("ring", 2, 3);
  const JobOptions options = On("127.0.0.1 slots=1\nlocalhost\n");
  EXPECT_EQ(WithReachableAddress(spec, options, {}).address, "127.0.0.1");
  const auto plan = PlanAgents(spec, options, {});
  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->placement.hosts, ElementsAre("127.0.0.1", "localhost"));
  EXPECT_EQ(plan->token_file, "");
}

TEST_F(ClusterRunTest, AnUnknownHostIsNamedWithItsLine) {
  EXPECT_THAT(
      [&] {
        WithReachableAddress(ProfileSpec("ring", 2, 3),
                             On("localhost\nno-such-host.invalid slots=2\n"), {});
      },
      ThrowsMessage<ConfigError>(
          HasSubstr("hosts.txt:2: cannot find the host 'no-such-host.invalid'")));
}

TEST_F(ClusterRunTest, AGivenAddressIsKept) {
  EXPECT_EQ(WithReachableAddress(spec_, WithAddress("192.0.2.1\n192.0.2.2\n"), {}).address,
            "127.0.0.9");
}

TEST_F(ClusterRunTest, WithAGivenAddressEveryHostIsLookedUpToo) {
  EXPECT_THAT(
      [&] { WithReachableAddress(spec_, WithAddress("192.0.2.1\nno-such-host.invalid\n"), {}); },
      ThrowsMessage<ConfigError>(
          AllOf(HasSubstr("hosts.txt:2: cannot find the host 'no-such-host.invalid'"),
                Not(HasSubstr("--address")))));
}

TEST_F(ClusterRunTest, NamesThatOnlySshKnowsAreKnown) {
  if (FindProgram("ssh").empty()) GTEST_SKIP() << "ssh is missing";
  const std::string config = directory_.Path("config");
  WriteFileAtomically(config,
                      "Host first\n  HostName 127.0.0.1\n"
                      "Host inner.invalid\n  ProxyJump first\n"
                      "Host wrong\n  HostName no-such-host.invalid\n");
  const Environment environment{{"OMPI_MCA_plm_rsh_agent", "ssh -F " + config + " : rsh"}};
  EXPECT_EQ(WithReachableAddress(spec_, On("first\n"), environment).address, "127.0.0.1");
  EXPECT_EQ(WithReachableAddress(spec_, WithAddress("inner.invalid\n"), environment).address,
            "127.0.0.9");
  EXPECT_THAT([&] { WithReachableAddress(spec_, On("inner.invalid\n"), environment); },
              ThrowsMessage<ConfigError>(
                  AllOf(HasSubstr("hosts.txt:1: ssh reaches"), HasSubstr("--address gives"))));
  EXPECT_THAT([&] { WithReachableAddress(spec_, WithAddress("first\nwrong\n"), environment); },
              ThrowsMessage<ConfigError>(HasSubstr("hosts.txt:2: cannot find the host")));
}

// Pods of version 1 of MPIJob have no names that lead to an address.
TEST_F(ClusterRunTest, AnotherProgramThanSshKnowsItsHosts) {
  const Environment environment{{"OMPI_MCA_plm_rsh_agent", "/etc/mpi/kubexec.sh"}};
  EXPECT_EQ(WithReachableAddress(spec_, WithAddress("no-such-host.invalid\n"), environment).address,
            "127.0.0.9");
}

TEST_F(ClusterRunTest, OtherHostsNeedAFileWithTheToken) {
  const RunSpec spec = ProfileSpec("ring", 2, 3);
  JobOptions options = On("a\nb\n");
  options.address = "192.0.2.1";
  EXPECT_THAT([&] { PlanAgents(spec, options, {}); },
              ThrowsMessage<ConfigError>(HasSubstr("set RINGSIDE_TOKEN_FILE")));
  EXPECT_EQ(PlanAgents(spec, options, {{"RINGSIDE_TOKEN_FILE", "/t"}})->token_file, "/t");
}

TEST_F(ClusterRunTest, ProcessesOfThisMachineNeedNone) {
  JobOptions options{.bundle_dir = "run"};
  options.address = "192.0.2.1";
  options.address_given = true;
  EXPECT_EQ(PlanAgents(ProfileSpec("mpi", 2, 3), options, {})->token_file, "");
}

TEST_F(ClusterRunTest, WhatCannotBeStartedLikeThisIsRefused) {
  RunSpec divided = ProfileSpec("hierarchical", 2, 3);
  divided.hosts = 2;
  EXPECT_THAT([&] { PlanAgents(divided, On("localhost slots=2\n"), {}); },
              ThrowsMessage<ConfigError>(HasSubstr("hosts: mpirun starts the processes")));
  RunSpec emulated = ProfileSpec("ring", 2, 3);
  emulated.network.emplace();
  EXPECT_THAT([&] { PlanAgents(emulated, On("localhost slots=2\n"), {}); },
              ThrowsMessage<ConfigError>(HasSubstr("network: mpirun starts the processes")));
  EXPECT_THAT([&] { PlanAgents(ProfileSpec("ps-sync", 2, 3), On("localhost slots=2\n"), {}); },
              ThrowsMessage<ConfigError>(HasSubstr("there are 2 slots")));
  JobOptions srun;
  srun.launcher.program = LauncherProgram::kSrun;
  EXPECT_THAT([&] { PlanAgents(ProfileSpec("ring", 2, 3), srun, {}); },
              ThrowsMessage<ConfigError>(HasSubstr("in a job of sbatch or salloc")));
  EXPECT_THAT([&] { PlanAgents(ProfileSpec("mpi", 2, 3), srun, {}); },
              ThrowsMessage<ConfigError>(HasSubstr("must be started by mpirun, not by srun")));
}

}  // namespace
}  // namespace ringside
