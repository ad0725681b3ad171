// Tests the promises of strategies whose ranks must be processes. The ranks are real processes,
// which mpirun starts if the strategy needs it. strategy_conformance_test tests all other
// strategies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ringside/experiments/job/coordinator/coordinator.h"
#include "ringside/experiments/job/processes/mpirun.h"
#include "ringside/experiments/spec/resolve/availability.h"
#include "ringside/experiments/system/files/find_program.h"
#include "ringside/experiments/system/processes/process.h"
#include "tests/experiments/job/job_testing.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

struct Setting {
  const StrategyEntry* entry = nullptr;
  int workers = 1;
};

void PrintTo(const Setting& setting, std::ostream* out) {
  *out << setting.entry->name << ", " << setting.workers << " workers";
}

std::string NameOf(const testing::TestParamInfo<Setting>& info) {
  return std::string(info.param.entry->name) + "_" + std::to_string(info.param.workers);
}

std::string ReadAll(Process& process) {
  std::string output;
  WaitUntil("the end of " + std::to_string(process.pid()), [&] {
    char buffer[4096];
    ssize_t count = 0;
    while ((count = ::read(process.output_fd(), buffer, sizeof(buffer))) > 0) {
      output.append(buffer, static_cast<std::size_t>(count));
    }
    return process.Poll().has_value();
  });
  return output;
}

class ProcessConformanceTest : public testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    const std::string reason = WhyUnavailable(entry());
    if (reason.empty()) return;
    // OpenMPI is among the packages that a build needs. NCCL is not; where it is, it runs over a
    // stand-in.
    ASSERT_NE(entry().traits.ranks, Ranks::kMpiProcesses) << reason;
#ifdef RINGSIDE_HAS_NCCL_STAND_IN
    FAIL() << reason;
#else
    GTEST_SKIP() << reason;
#endif
  }

  const StrategyEntry& entry() const { return *GetParam().entry; }
  int workers() const { return GetParam().workers; }

  /// Every rank in its process; codes of the processes that were started here.
  void RunRanks(const std::string& what, std::vector<int>& codes) {
    std::vector<Process> processes;
    if (entry().traits.ranks == Ranks::kMpiProcesses) {
      processes.emplace_back(
          Process::Options{.argv = MpirunArguments({.mpirun = FindProgram("mpirun"),
                                                    .workers = workers(),
                                                    .as_root = ::geteuid() == 0,
                                                    .command = CommandOf("mpirun", what)})});
    } else {
      for (int rank = 0; rank < workers(); ++rank) {
        processes.emplace_back(Process::Options{.argv = CommandOf(std::to_string(rank), what)});
      }
    }
    for (Process& process : processes) {
      output_ += ReadAll(process);
      codes.push_back(process.Poll()->signal != 0 ? -1 : process.Poll()->code);
    }
  }

  std::vector<std::string> CommandOf(const std::string& rank, const std::string& what) const {
    return {DirectoryOfThisExecutable() + "/process_rank",
            std::string(entry().name),
            rank,
            std::to_string(workers()),
            coordinator_.target(),
            what};
  }

  const std::shared_ptr<JobState> job_state_ =
      std::make_shared<JobState>(JobState::Options{.workers = GetParam().workers});
  Coordinator coordinator_{job_state_, {.token = "secret"}};
  std::string output_;
};

TEST_P(ProcessConformanceTest, EndsWithTheExactSumOfAllUpdates) {
  std::vector<int> codes;
  RunRanks("sum", codes);
  EXPECT_THAT(codes, ::testing::Each(0)) << output_;
}

/// With at least one peer.
class PeersConformanceTest : public ProcessConformanceTest {};

TEST_P(PeersConformanceTest, DestructionWithoutStopFailsThePeers) {
  std::vector<int> codes;
  RunRanks("leave", codes);
  for (int rank = 1; rank < workers(); ++rank) {
    const auto failure = job_state_->Value("failure of " + std::to_string(rank));
    ASSERT_TRUE(failure) << output_;
    // NCCL does not tell whom it waits for.
    const bool is_mpi = entry().traits.ranks == Ranks::kMpiProcesses;
    EXPECT_THAT(*failure, HasSubstr(is_mpi ? "worker 0" : "another worker"));
  }
}

std::vector<Setting> Settings(const std::vector<int>& worlds) {
  std::vector<Setting> settings;
  for (const StrategyEntry& entry : TestCatalog().strategies()) {
    if (entry.traits.ranks == Ranks::kAnywhere) continue;
    for (const int workers : worlds) settings.push_back({&entry, workers});
  }
  return settings;
}

INSTANTIATE_TEST_SUITE_P(Table, ProcessConformanceTest,
                         testing::ValuesIn(Settings({1, 2, 3, 4, 7})), NameOf);
INSTANTIATE_TEST_SUITE_P(Table, PeersConformanceTest, testing::ValuesIn(Settings({2, 3, 4, 7})),
                         NameOf);

}  // namespace
}  // namespace ringside
