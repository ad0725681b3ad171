#include "ringside/experiments/system/processes/process_watch.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "ringside/experiments/system/processes/process.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

TEST(ProcessWatch, SeesTheEndBeforeAndAfterTheProcessIsReaped) {
  Process process({.argv = {"/bin/sleep", "1000"}});
  const ProcessWatch watch(process.pid());
  EXPECT_FALSE(watch.HasEnded());
  process.Signal(SIGKILL);
  WaitUntil("the end that is seen", [&] { return watch.HasEnded(); });
  WaitUntil("the end", [&] { return process.Poll().has_value(); });
  EXPECT_TRUE(watch.HasEnded());
  EXPECT_TRUE(ProcessWatch(process.pid()).HasEnded()) << "of a process that is gone";
}

}  // namespace
}  // namespace ringside
