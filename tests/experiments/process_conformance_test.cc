// What strategy_conformance_test asks of strategies whose ranks may be threads, asked of those
// whose ranks must be processes: real ones, started by mpirun where the strategy says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "experiments/find_program.h"
#include "experiments/job/coordinator.h"
#include "experiments/job/mpirun.h"
#include "experiments/job/process.h"
#include "experiments/strategy_table.h"
#include "tests/experiments/job/job_testing.h"

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
    // OpenMPI is among the packages that a build needs; GPUs are not.
    ASSERT_NE(entry().ranks, Ranks::kMpiProcesses) << reason;
    GTEST_SKIP() << reason;
  }

  const StrategyEntry& entry() const { return *GetParam().entry; }
  int workers() const { return GetParam().workers; }

  /// Every rank in its process; codes of the processes that were started here.
  void RunRanks(const std::string& what, std::vector<int>& codes) {
    std::vector<Process> processes;
    if (entry().ranks == Ranks::kMpiProcesses) {
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

  JobBoard board_{{.workers = GetParam().workers}};
  Coordinator coordinator_{board_, {.token = "secret"}};
  std::string output_;
};

TEST_P(ProcessConformanceTest, EndsWithTheExactSumOfAllUpdates) {
  std::vector<int> codes;
  RunRanks("sum", codes);
  EXPECT_THAT(codes, ::testing::Each(0)) << output_;
}

TEST_P(ProcessConformanceTest, DestructionWithoutStopFailsThePeers) {
  if (workers() == 1) return;  // it has none
  std::vector<int> codes;
  RunRanks("leave", codes);
  for (int rank = 1; rank < workers(); ++rank) {
    const auto failure = board_.Value("failure of " + std::to_string(rank));
    ASSERT_TRUE(failure) << output_;
    EXPECT_THAT(*failure, HasSubstr("worker 0"));
  }
}

std::vector<Setting> Settings() {
  std::vector<Setting> settings;
  for (const StrategyEntry* entry : StrategyTable()) {
    if (entry->ranks == Ranks::kAnywhere) continue;
    for (const int workers : {1, 2, 3, 4, 7}) settings.push_back({entry, workers});
  }
  return settings;
}

INSTANTIATE_TEST_SUITE_P(Table, ProcessConformanceTest, testing::ValuesIn(Settings()), NameOf);

}  // namespace
}  // namespace ringside
