// Runs on emulated hosts of which one is cut off. The coordinator is still reached, because it has
// a Unix domain socket.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "ringside/common/core/file_descriptor.h"
#include "ringside/experiments/system/find_program.h"
#include "tests/experiments/lab/emulated_run_testing.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

struct Cut {
  const char* strategy;
  int workers;
};

void PrintTo(const Cut& cut, std::ostream* out) { *out << cut.strategy << " " << cut.workers; }

class PartitionTest : public EmulatedRunTest, public ::testing::WithParamInterface<Cut> {
 protected:
  /// Runs `ip` on the host of process `pid`.
  static void RunIpThere(pid_t pid, const std::vector<std::string>& args) {
    const std::string path = "/proc/" + std::to_string(pid) + "/ns/net";
    const FileDescriptor host(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_GE(host.get(), 0);
    std::vector<std::string> argv{FindProgram("ip")};
    argv.insert(argv.end(), args.begin(), args.end());
    Process ip({.argv = argv, .network_namespace = host.get()});
    const RunResult result = Finish(ip);
    ASSERT_EQ(result.exit_code, 0) << result.output;
  }
};

TEST_P(PartitionTest, TheRankThatIsCutOffIsTheOneThatIsNamed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may enter the hosts of another process";
  const std::string workers = std::to_string(GetParam().workers);
  Process process = Start(std::string("train --quiet --strategy ") + GetParam().strategy +
                          " --workers " + workers +
                          " --network 100Mbps --timeout 3s --steps 1000000 --model "
                          "profile:small-tensors --out " +
                          bundle());
  WaitUntil("a step", [&] { return CommonStepsIn(bundle()) >= 1; });
  RunIpThere(PidIn(bundle(), "worker 1"), {"link", "set", "eth0", "down"});
  const RunResult result = Finish(process);
  EXPECT_EQ(result.exit_code, 1) << result.output;
  const std::string error = Read("summary.json").at("error");
  EXPECT_THAT(error, HasSubstr("with worker 1 failed"));
  EXPECT_THAT(error, HasSubstr("worker 1 is cut off"));
}

INSTANTIATE_TEST_SUITE_P(Strategies, PartitionTest,
                         ::testing::Values(Cut{"ring", 4}, Cut{"ring", 2}, Cut{"auto", 4},
                                           Cut{"recursive-doubling", 4}, Cut{"halving-doubling", 4},
                                           Cut{"local-sgd", 3}),
                         [](const auto& cut) {
                           std::string name = cut.param.strategy;
                           std::erase(name, '-');
                           return name + std::to_string(cut.param.workers);
                         });

}  // namespace
}  // namespace ringside
