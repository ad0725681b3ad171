#include "ringside/common/core/failure_latch.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

std::string PeerOf(const FailureLatch& latch) {
  try {
    latch.Check();
  } catch (const CommError& error) {
    return error.peer();
  }
  return "nobody";
}

TEST(FailureLatchTest, WithoutAFailureNothingIsThrown) {
  FailureLatch latch;
  EXPECT_FALSE(latch.failed());
  EXPECT_NO_THROW(latch.Check());
  EXPECT_EQ(latch.Guard([] { return 7; }), 7);
}

TEST(FailureLatchTest, TheFirstFailureStaysWithItsType) {
  FailureLatch latch;
  latch.Set(CommError("worker 2", "sum", "gone"));
  latch.Set(InternalError("a consequence"));
  EXPECT_TRUE(latch.failed());
  EXPECT_EQ(PeerOf(latch), "worker 2");
  EXPECT_EQ(PeerOf(latch), "worker 2");  // at every call
}

TEST(FailureLatchTest, GuardKeepsWhatItsBodyThrowsAndRunsNoFurtherOne) {
  FailureLatch latch;
  EXPECT_THROW(latch.Guard([] { throw ConfigError("a wrong size"); }), ConfigError);
  bool ran = false;
  EXPECT_THROW(latch.Guard([&] { ran = true; }), ConfigError);
  EXPECT_FALSE(ran);
}

TEST(FailureLatchTest, GuardThrowsTheCauseThatAnotherThreadFound) {
  FailureLatch latch;
  const auto body = [&] {
    std::thread([&] { latch.Set(CommError("worker 1", "sum", "gone")); }).join();
    throw std::runtime_error("a consequence");
  };
  EXPECT_THROW(latch.Guard(body), CommError);
}

TEST(FailureLatchTest, AllThreadsSeeTheSameFailure) {
  FailureLatch latch;
  std::vector<std::string> seen(8);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      threads.emplace_back([&, i] {
        latch.Set(CommError("worker " + std::to_string(i), "sum", "gone"));
        seen[i] = PeerOf(latch);
      });
    }
  }
  for (const std::string& peer : seen) EXPECT_EQ(peer, seen[0]);
}

}  // namespace
}  // namespace ringside
