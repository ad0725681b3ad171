// Runs on emulated hosts of which one is cut off. The coordinator is still reached, because it has
// a Unix domain socket.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "ringside/common/base/file_descriptor.h"
#include "ringside/experiments/system/files/find_program.h"
#include "tests/experiments/lab/emulated_run_testing.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

/// From the cut to the decision: the limit of an operation, and a second.
constexpr std::chrono::seconds kBound{3 + 1};
/// How much later it may be where other tests run beside, as in the fault suite that tests call.
constexpr std::chrono::seconds kBusySlack{3};

struct Cut {
  const char* strategy;
  int workers;
  bool ranks_vote = true;  ///< Those that miss a rank agree on which one is cut off.
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

  std::set<std::string> NamespacesOfMembers() const {
    std::set<std::string> found;
    for (const pid_t pid : PidsIn(bundle())) {
      found.insert(TargetOf("/proc/" + std::to_string(pid) + "/ns/net"));
    }
    return found;
  }

  /// Whether a process is in one of these network namespaces or has it open, or it is mounted.
  static bool AreHeld(const std::set<std::string>& namespaces) {
    std::ifstream mounts("/proc/self/mountinfo");
    for (std::string line; std::getline(mounts, line);) {
      for (const std::string& name : namespaces) {
        if (line.find(name) != std::string::npos) return true;
      }
    }
    for (const auto& process : fs::directory_iterator("/proc")) {
      if (namespaces.contains(TargetOf(process.path() / "ns/net"))) return true;
      std::error_code ended;  // or no process
      for (fs::directory_iterator file(process.path() / "fd", ended);
           !ended && file != fs::directory_iterator(); file.increment(ended)) {
        if (namespaces.contains(TargetOf(file->path()))) return true;
      }
    }
    return false;
  }

 private:
  /// Empty for a process that has ended.
  static std::string TargetOf(const fs::path& link) {
    std::error_code ended;
    return fs::read_symlink(link, ended).string();
  }
};

TEST_P(PartitionTest, TheRankThatIsCutOffIsTheOneThatIsNamed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may enter the hosts of another process";
  const std::string workers = std::to_string(GetParam().workers);
  const Clock::time_point begin = Clock::now();
  Process process = Start(std::string("train --quiet --strategy ") + GetParam().strategy +
                          " --workers " + workers +
                          " --network 100Mbps --timeout 3s --steps 1000000 --model "
                          "profile:small-tensors --out " +
                          bundle());
  WaitUntil("a step", [&] { return CommonStepsIn(bundle()) >= 1; });
  RememberMembers();
  const std::set<std::string> namespaces = NamespacesOfMembers();
  EXPECT_FALSE(namespaces.contains("")) << "a member has ended";
  ASSERT_TRUE(AreHeld(namespaces));
  const std::chrono::duration<double> cut = Clock::now() - begin;
  RunIpThere(PidIn(bundle(), "worker 1"), {"link", "set", "eth0", "down"});
  const RunResult result = Finish(process);
  EXPECT_EQ(result.exit_code, 1) << result.output;
  const nlohmann::json summary = Read("summary.json");
  const std::string error = summary.at("error");
  const nlohmann::json& failure = summary.at("failure");
  EXPECT_EQ(failure.at("kind"), "comm") << error;
  EXPECT_EQ(failure.at("member"), "worker 1") << error;
  const std::chrono::duration<double> failed(failure.at("seconds").get<double>());
  EXPECT_LT(failed - cut, kBound + kBusySlack) << error;
  if (GetParam().ranks_vote) {
    EXPECT_THAT(error, HasSubstr("with worker 1 failed"));
    EXPECT_THAT(error, HasSubstr("worker 1 is cut off"));
  }
  WaitUntil("the end of the emulated hosts", [&] { return !AreHeld(namespaces); });
}

INSTANTIATE_TEST_SUITE_P(Strategies, PartitionTest,
                         ::testing::Values(Cut{"ring", 4}, Cut{"ring", 2}, Cut{"auto", 4},
                                           Cut{"recursive-doubling", 4}, Cut{"halving-doubling", 4},
                                           Cut{"tree", 4}, Cut{"local-sgd", 3}, Cut{"diloco", 3},
                                           Cut{"hierarchical", 4}, Cut{"mixed", 3, false},
                                           Cut{"ps-sync", 3, false}, Cut{"ps-async", 3, false},
                                           Cut{"ps-ssp", 3, false}, Cut{"ps-backup", 3, false}),
                         [](const auto& cut) {
                           std::string name = cut.param.strategy;
                           std::erase(name, '-');
                           return name + std::to_string(cut.param.workers);
                         });

}  // namespace
}  // namespace ringside
