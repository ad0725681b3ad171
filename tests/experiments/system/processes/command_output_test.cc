#include "ringside/experiments/system/processes/command_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/killed_program_error.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Deadline Soon() { return Deadline::After(std::chrono::seconds(20)); }

TEST(CommandOutput, IsAllThatTheCommandWrites) {
  EXPECT_EQ(OutputOf({"/bin/sh", "-c", "echo one; echo two >&2"}, Soon()), "one\ntwo\n");
  EXPECT_EQ(OutputOf({"/bin/sh", "-c", "head -c 300000 /dev/zero"}, Soon()).size(), 300'000U);
}

TEST(CommandOutput, AFailureIsToldWithWhatTheCommandSaid) {
  EXPECT_THAT(
      [] {
        OutputOf({"/bin/sh", "-c", "echo no such node; exit 3"}, Soon());
      },
      ThrowsMessage<MissingBackendError>(
          AllOf(HasSubstr("exited with code 3"), HasSubstr("no such node"))));
  EXPECT_THROW(OutputOf({"/nowhere/program"}, Soon()), MissingBackendError);
}

TEST(CommandOutput, ACommandThatIsKilledIsNotCalledMissing) {
  EXPECT_THAT(
      [] {
        OutputOf({"/bin/sh", "-c", "echo one node; kill -9 $$"}, Soon());
      },
      ThrowsMessage<KilledProgramError>(
          AllOf(HasSubstr("was killed by signal 9"), HasSubstr("one node"))));
}

TEST(CommandOutput, ACommandThatDoesNotEndIsLeft) {
  EXPECT_THAT(
      [] {
        OutputOf({"/bin/sh", "-c", "echo waiting; sleep 1000"},
                 Deadline::After(std::chrono::milliseconds(200)));
      },
      ThrowsMessage<MissingBackendError>(
          AllOf(HasSubstr("did not end in time"), HasSubstr("waiting"))));
}

}  // namespace
}  // namespace ringside
