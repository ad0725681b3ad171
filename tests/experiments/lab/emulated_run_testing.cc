#include "tests/experiments/lab/emulated_run_testing.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace ringside {

void EmulatedRunTest::TearDown() {
  for (const pid_t pid : members_) {
    WaitUntil("the end of a member", [&] { return !IsAlive(pid); });
  }
}

Process EmulatedRunTest::Start(const std::string& args) const {
  std::vector<std::string> argv{"/usr/bin/env", "XDG_RUNTIME_DIR=" + scratch_.path(),
                                RINGSIDE_EXECUTABLE};
  std::istringstream words(args);
  for (std::string word; words >> word;) argv.push_back(word);
  return Process({.argv = argv});
}

RunResult EmulatedRunTest::Finish(Process& process) {
  RunResult result;
  WaitUntil("the end of a run", [&] {
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

nlohmann::json EmulatedRunTest::Train(const std::string& args) {
  Process process = Start(
      "train --quiet --force --steps 4 --warmup-steps 1 --model "
      "profile:small-tensors --out " +
      bundle() + " " + args);
  const RunResult result = Finish(process);
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_TRUE(std::filesystem::is_empty(scratch_.path() + "/ringside"));
  return Read("summary.json");
}

Process EmulatedRunTest::StartTraining() {
  Process process = Start(
      "train --quiet --strategy ring --workers 2 --network 100Mbps --steps "
      "1000000 --model profile:small-tensors --out " +
      bundle());
  WaitUntil("a step", [&] { return CommonStepsIn(bundle()) >= 1; });
  RememberMembers();
  EXPECT_EQ(members_.size(), 2u);
  return process;
}

void EmulatedRunTest::RememberMembers() { members_ = PidsIn(bundle()); }

nlohmann::json EmulatedRunTest::Read(const std::string& name) const {
  std::ifstream in(bundle() + "/" + name);
  return nlohmann::json::parse(in, nullptr, false);
}

}  // namespace ringside
