// What experiments/lab/lab.py refuses, and a lab itself where this process may make namespaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "experiments/job/process.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct LabResult {
  int exit_code = -1;  ///< -1: a signal ended it.
  std::string output;  ///< Both streams.
};

LabResult Finish(Process& process) {
  LabResult result;
  WaitUntil("the end of a command", [&] {
    char buffer[4096];
    ssize_t count = 0;
    while ((count = ::read(process.output_fd(), buffer, sizeof(buffer))) > 0) {
      result.output.append(buffer, static_cast<std::size_t>(count));
    }
    return process.Poll().has_value();
  });
  if (process.Poll()->signal == 0) result.exit_code = process.Poll()->code;
  return result;
}

LabResult Shell(const std::string& line) {
  Process process({.argv = {"/bin/sh", "-c", line}});
  return Finish(process);
}

/// `args` are separated by spaces; `variables` are NAME=value.
Process StartLab(const std::string& args, const std::vector<std::string>& variables = {}) {
  std::vector<std::string> argv{"/usr/bin/env"};
  argv.insert(argv.end(), variables.begin(), variables.end());
  argv.insert(argv.end(), {"python3", "-B", RINGSIDE_LAB, "--build", RINGSIDE_BUILD});
  std::istringstream words(args);
  for (std::string word; words >> word;) argv.push_back(word);
  return Process({.argv = argv});
}

struct Misuse {
  const char* args;
  int exit_code;
  const char* message;
};

void PrintTo(const Misuse& misuse, std::ostream* out) { *out << misuse.args; }

class LabMisuse : public ::testing::TestWithParam<Misuse> {};

TEST_P(LabMisuse, IsRefusedBeforeAnythingIsMade) {
  Process lab = StartLab(GetParam().args);
  const LabResult result = Finish(lab);
  EXPECT_EQ(result.exit_code, GetParam().exit_code) << result.output;
  EXPECT_THAT(result.output, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Table, LabMisuse,
    ::testing::Values(
        Misuse{"", 2, "what to run is missing"}, Misuse{"-- verify", 2, "what to run is missing"},
        Misuse{"--hosts 0 -- train", 2, "--hosts 0: give at least 1"},
        Misuse{"--hosts 300 -- train", 2, "more than 250"},
        Misuse{"--workers-per-host 0 -- train", 2, "--workers-per-host 0"},
        Misuse{"--server-hosts -1 -- train", 2, "--server-hosts -1"},
        Misuse{"--rate fast -- train", 2, "--rate fast: expected a rate"},
        Misuse{"--rate 0Gbps -- train", 2, "--rate 0Gbps"},
        Misuse{"-- train --workers 2", 2, "--workers: the lab sets it itself"},
        Misuse{"-- train --out=here", 2, "--out=here: the lab sets it itself"},
        Misuse{"--server-hosts 1 -- bench --servers 1", 2, "as many as --server-hosts"},
        Misuse{"--server-hosts 1 -- bench --servers=2", 2, "as many as --server-hosts"},
        Misuse{"--at-least 0.9 -- bench --strategy ring", 2,
               "--at-least: only train has a bound, not bench"},
        Misuse{"--timeout 0 -- train", 2, "--timeout 0: give more than 0"},
        Misuse{"--nonsense", 2, "--nonsense"}));

constexpr char kEndlessTraining[] =
    "--hosts 2 --no-calibration -- train --strategy ring --model profile:small-tensors "
    "--steps 1000000";

/// An `ip` that refuses what matches a pattern of the shell, and else is the real one.
class FailingIp {
 public:
  explicit FailingIp(const std::string& pattern) {
    const std::string path = directory_.path() + "/ip";
    std::string real = Shell("command -v ip").output;
    real.pop_back();  // the end of the line
    std::ofstream(path) << "#!/bin/sh\ncase \"$*\" in " << pattern
                        << ") echo refused >&2; exit 3;; esac\nexec " << real << " \"$@\"\n";
    fs::permissions(path, fs::perms::owner_all);
  }

  std::string path_variable() const { return "PATH=" + directory_.path() + ":" + ::getenv("PATH"); }

 private:
  const TemporaryDirectory directory_;
};

class LabTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const LabResult made =
        Shell("ip netns add ringside-probe-$$ && ip netns delete ringside-probe-$$");
    if (made.exit_code != 0) GTEST_SKIP() << "no network namespaces here: " << made.output;
  }
  void TearDown() override {
    if (IsSkipped()) return;
    for (const pid_t lab : labs_) EXPECT_THAT(NamespacesOf(lab), IsEmpty());
    for (const pid_t pid : ranks_) EXPECT_FALSE(IsAlive(pid)) << pid;
    EXPECT_TRUE(fs::is_empty(work_.path()));
  }

  /// Others may be at work on this machine: of this lab alone.
  static std::vector<std::string> NamespacesOf(pid_t lab) {
    const LabResult listed = Shell("ip netns list");
    EXPECT_EQ(listed.exit_code, 0) << listed.output;
    std::vector<std::string> names;
    std::istringstream lines(listed.output);
    for (std::string line; std::getline(lines, line);) {
      if (line.rfind("rslab" + std::to_string(lab) + "-", 0) == 0) {
        names.push_back(line.substr(0, line.find(' ')));
      }
    }
    return names;
  }

  Process Start(const std::string& args, std::vector<std::string> variables = {}) {
    variables.push_back("TMPDIR=" + work_.path());
    Process lab = StartLab(args, variables);
    labs_.push_back(lab.pid());
    return lab;
  }

  LabResult Run(const std::string& args) {
    Process lab = Start(args);
    return Finish(lab);
  }

  /// A lab whose two workers have taken a step.
  Process StartTraining(const std::string& options = "") {
    Process lab = Start(options + kEndlessTraining);
    WaitUntil("a step", [&] { return !Bundle().empty() && CommonStepsIn(Bundle()) >= 1; });
    EXPECT_EQ(NamespacesOf(lab.pid()).size(), 3u);
    for (const std::string& name : NamespacesOf(lab.pid())) {
      std::istringstream pids(Shell("ip netns pids " + name).output);
      for (pid_t pid = 0; pids >> pid;) ranks_.push_back(pid);
    }
    EXPECT_GE(ranks_.size(), 4u) << "two agents and two workers";
    return lab;
  }

  /// What runs on it, by its namespace: no number of a process is held for longer than a look.
  static void KillHost(const Process& lab, int host) {
    const std::string name = "rslab" + std::to_string(lab.pid()) + "-h" + std::to_string(host);
    Shell("ip netns pids " + name + " | xargs -r kill -9");
  }

  std::string Bundle() const {
    for (const auto& entry : fs::directory_iterator(work_.path())) {
      if (fs::exists(entry.path() / "run/metrics.jsonl")) return entry.path() / "run";
    }
    return "";
  }

  const TemporaryDirectory work_;

 private:
  std::vector<pid_t> labs_;
  std::vector<pid_t> ranks_;
};

TEST_F(LabTest, ServersOnTheirOwnHostsServeWorkersOfSeveral) {
  const LabResult result = Run(
      "--hosts 2 --workers-per-host 2 --server-hosts 1 --rate 100Mbps --no-calibration --json -- "
      "bench --strategy ps-sync -b 4KiB -e 4KiB -n 2 -w 1 --quiet");
  ASSERT_EQ(result.exit_code, 0) << result.output;
  const auto json = nlohmann::json::parse(result.output, nullptr, false);
  ASSERT_TRUE(json.is_object()) << result.output;
  const auto& row = json.at("bench").at("rows").at(0);
  EXPECT_EQ(row.at("workers"), 4);
  EXPECT_EQ(row.at("servers"), 1);
  EXPECT_EQ(row.at("wrong"), 0);
}

TEST_F(LabTest, TrainingIsHeldAgainstItsBound) {
  const LabResult result =
      Run("--hosts 2 --rate 1Gbps --no-calibration --at-least 2 --json -- train --strategy ring "
          "--model profile:small-tensors --steps 4 --warmup-steps 1 --quiet");
  EXPECT_EQ(result.exit_code, 5) << "nothing is twice as fast as its bound: " << result.output;
  EXPECT_THAT(result.output, HasSubstr("share_of_bound"));
}

TEST_F(LabTest, HostsAreKnownToStrategiesThatSumInSharedMemory) {
  const LabResult across =
      Run("--hosts 2 --workers-per-host 2 --no-calibration --json -- train --strategy hierarchical "
          "--model profile:small-tensors --steps 4 --warmup-steps 1 --quiet");
  EXPECT_EQ(across.exit_code, 0) << across.output;
  const LabResult within =
      Run("--hosts 1 --workers-per-host 2 --no-calibration --json -- train --strategy shm "
          "--model profile:small-tensors --steps 4 --warmup-steps 1 --quiet");
  EXPECT_EQ(within.exit_code, 0) << within.output;
}

TEST_F(LabTest, AJobThatIsRefusedGivesItsExitCode) {
  const LabResult result = Run("--hosts 2 --no-calibration -- bench --strategy rnig -b 4 -e 4");
  EXPECT_EQ(result.exit_code, 2) << result.output;
  EXPECT_THAT(result.output, HasSubstr("did you mean 'ring'"));
}

TEST_F(LabTest, AFailedJobLeavesNothing) {
  Process lab = StartTraining();
  KillHost(lab, 1);
  const LabResult result = Finish(lab);
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_THAT(result.output, HasSubstr("worker 1 ended with 137"));
}

TEST_F(LabTest, ARankThatIsKilledGivesItsSignal) {
  Process lab = StartTraining();
  KillHost(lab, 0);
  const LabResult result = Finish(lab);
  EXPECT_EQ(result.exit_code, 128 + SIGKILL) << result.output;
}

TEST_F(LabTest, AnInterruptDrainsAndLeavesNothing) {
  Process lab = StartTraining();
  lab.Signal(SIGINT);
  const LabResult result = Finish(lab);
  EXPECT_EQ(result.exit_code, 130) << result.output;
  EXPECT_THAT(result.output, HasSubstr("stopped after a common last step"));
}

TEST_F(LabTest, TwoInterruptsLeaveNothing) {
  Process lab = StartTraining();
  lab.Signal(SIGINT);
  lab.Signal(SIGTERM);
  const LabResult result = Finish(lab);
  EXPECT_EQ(result.exit_code, 130) << result.output;
}

TEST_F(LabTest, InterruptsDuringItsCleanUpLeaveNothing) {
  Process lab = StartTraining();
  // Its exit code is open: the last of them may reach an interpreter that has taken its handlers
  // away.
  WaitUntil("the end of the lab", [&] {
    lab.Signal(SIGINT);
    lab.Signal(SIGTERM);
    return lab.Poll().has_value();
  });
}

TEST_F(LabTest, AnInterruptWhileItIsBuiltLeavesNothing) {
  Process lab = Start("--hosts 60 --no-calibration -- bench --strategy ring -b 4 -e 4");
  WaitUntil("a namespace", [&] { return !NamespacesOf(lab.pid()).empty(); });
  lab.Signal(SIGINT);
  EXPECT_EQ(Finish(lab).exit_code, 130);
}

TEST_F(LabTest, ATimeoutNamesTheRanksThatStillRun) {
  Process lab = StartTraining("--timeout 8 ");
  const LabResult result = Finish(lab);
  EXPECT_EQ(result.exit_code, 124) << result.output;
  EXPECT_THAT(result.output, HasSubstr("not done within 8 s: still running: worker 0, worker 1"));
}

TEST_F(LabTest, ANamespaceThatCannotBeRemovedDoesNotKeepTheOthers) {
  const FailingIp ip("'netns delete rslab'*-sw");
  Process lab = Start("--hosts 2 --no-calibration -- bench --strategy ring -b 4 -e 4 --quiet",
                      {ip.path_variable()});
  const pid_t pid = lab.pid();
  const LabResult result = Finish(lab);
  EXPECT_EQ(result.exit_code, 1) << result.output;
  const std::string left = "rslab" + std::to_string(pid) + "-sw";
  EXPECT_THAT(result.output, HasSubstr("left behind: " + left));
  EXPECT_THAT(NamespacesOf(pid), ::testing::ElementsAre(left));
  EXPECT_EQ(Shell("ip netns delete " + left).exit_code, 0);
}

TEST_F(LabTest, ACalibrationThatFailsIsToldInALine) {
  const FailingIp ip("*python3*");
  Process lab = Start("--hosts 2 -- bench --strategy ring -b 4 -e 4", {ip.path_variable()});
  const LabResult result = Finish(lab);
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_THAT(result.output, ContainsRegex("calibration: .* ended with 3: refused"));
  EXPECT_THAT(result.output, Not(HasSubstr("Traceback")));
}

}  // namespace
}  // namespace ringside
