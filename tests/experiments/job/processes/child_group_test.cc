#include "ringside/experiments/job/processes/child_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "ringside/experiments/job/processes/member_setup.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;

constexpr Member kWorker0{Role::kWorker, 0};

// Otherwise a member that leaves some behind in every step fills the table of processes.
TEST(ChildGroup, ReapsWhatARunningMemberHasLeftBehind) {
  const TemporaryDirectory directory;
  const std::string told = directory.path() + "/told";
  const std::string program = directory.path() + "/member.sh";
  // The process ends by itself, after the one that has started it.
  std::ofstream(program) << "#!/bin/sh\n"
                         << "sh -c 'sh -c \"sleep 0.1; echo \\$\\$\" >" << told << " &'\n"
                         << "exec sleep 1000\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  Console console{{.show_progress = false}};
  ChildGroup children({.log_dir = "", .echo = false, .program = program}, console);
  MemberSetup setup;
  setup.who = kWorker0;
  setup.spec = ProfileSpec("none", 1, 1);
  children.Start(setup);
  pid_t left_behind = 0;
  WaitUntil("the number of the process",
            [&] { return static_cast<bool>(std::ifstream(told) >> left_behind); });
  WaitUntil("its end", [&] {
    children.Poll(std::chrono::milliseconds(10), -1);
    return ::kill(left_behind, 0) != 0;
  });
  EXPECT_THAT(children.running(), ElementsAre(kWorker0));
  children.EndAll({});
  EXPECT_TRUE(children.all_ended());
}

}  // namespace
}  // namespace ringside
