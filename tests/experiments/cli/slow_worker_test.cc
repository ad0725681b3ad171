// Tests a whole job with a worker that gets too little of the processor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "ringside/experiments/system/processes/process.h"
#include "tests/common/control_group.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class SlowWorkerTest : public ::testing::TestWithParam<const char*> {
 protected:
  void TearDown() override {
    if (HasFailure()) std::cout << "The launcher said:\n" << errors();
  }

  std::string bundle() const { return directory_.Path("bundle"); }
  std::string errors() const { return Contents(directory_.Path("errors")); }

  const TemporaryDirectory directory_;
};

TEST_P(SlowWorkerTest, IsNamedAndIsNotTakenForDead) {
  const std::unique_ptr<ControlGroup> group = ControlGroup::OfProcessorTime(10);
  if (!group) GTEST_SKIP() << "needs root and control groups for processor time";
  const std::string command = "exec " + RingsideProgram() + " train --strategy " + GetParam() +
                              " --workers 2 --model mlp --data digits --steps 1000000 --out " +
                              bundle() + " 2>" + directory_.Path("errors");
  Process launcher({.argv = {"/bin/sh", "-c", command}});
  // The launcher compares with the steps that it has seen.
  WaitUntil("steps", [&] { return CommonStepsIn(bundle()) >= 30; });
  const pid_t worker = PidIn(bundle(), "worker 1");
  group->Take(worker);
  // The warning says what the worker did last. That may be an exchange of gradients.
  WaitUntil("a warning", [&] {
    return errors().find("warning: worker 1 ") != std::string::npos || launcher.Poll().has_value();
  });
  const int steps = CommonStepsIn(bundle());
  group->LetGo(worker);
  WaitUntil("more steps",
            [&] { return CommonStepsIn(bundle()) >= steps + 30 || launcher.Poll().has_value(); });
  EXPECT_FALSE(launcher.Poll().has_value()) << errors();
  launcher.Signal(SIGINT);
  WaitUntil("the launcher's end", [&] { return launcher.Poll().has_value(); });
  EXPECT_EQ(launcher.Poll()->code, 130) << errors();
  const auto summary = nlohmann::json::parse(Contents(bundle() + "/summary.json"));
  EXPECT_EQ(summary["status"], "interrupted");
  EXPECT_EQ(summary["failure"], nullptr);
}

INSTANTIATE_TEST_SUITE_P(Strategies, SlowWorkerTest, ::testing::Values("ring", "ps-sync"),
                         [](const auto& run) {
                           std::string name = run.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace ringside
