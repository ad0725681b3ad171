#include "ringside/common/base/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <limits>
#include <new>
#include <string>
#include <system_error>

#include "ringside/common/base/lack_of_resources.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ErrorsTest, CommErrorNamesPeerOperationAndReason) {
  const CommError error("worker 2", "all-reduce of bucket 3, step 17", "connection reset");
  EXPECT_EQ(error.peer(), "worker 2");
  EXPECT_EQ(error.operation(), "all-reduce of bucket 3, step 17");
  EXPECT_THAT(error.what(), AllOf(HasSubstr("worker 2"), HasSubstr("bucket 3, step 17"),
                                  HasSubstr("connection reset")));
}

TEST(ErrorsTest, CertificateErrorNamesThePeer) {
  const CertificateError error("server 0 at 10.0.0.2:4711", "its certificate ran out");
  EXPECT_EQ(error.peer(), "server 0 at 10.0.0.2:4711");
  EXPECT_STREQ(error.what(), "server 0 at 10.0.0.2:4711: its certificate ran out");
  EXPECT_THROW(throw error, ConfigError);
}

TEST(ErrorsTest, DataErrorNamesPathOffsetAndExpectation) {
  const DataError error("/data/x.idx", 16, "60000 labels");
  EXPECT_EQ(error.path(), "/data/x.idx");
  EXPECT_EQ(error.offset(), 16);
  EXPECT_THAT(error.what(),
              AllOf(HasSubstr("/data/x.idx"), HasSubstr("16"), HasSubstr("60000 labels")));
}

TEST(ErrorsTest, DivergedErrorNamesRankStepAndLoss) {
  const DivergedError error(1, 42, std::numeric_limits<double>::infinity());
  EXPECT_EQ(error.rank(), 1);
  EXPECT_EQ(error.step(), 42);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("worker 1"), HasSubstr("42"), HasSubstr("inf")));
}

TEST(ErrorsTest, DivergedErrorTellsWhatIsNotFinite) {
  const DivergedError error("the gradient of parameter 3 is inf");
  EXPECT_STREQ(error.what(), "diverged: the gradient of parameter 3 is inf");
  EXPECT_EQ(error.problem(), "the gradient of parameter 3 is inf");
  EXPECT_EQ(error.rank(), -1);
  EXPECT_EQ(error.step(), -1);
}

TEST(ErrorsTest, ReplicasDifferErrorNamesTheStepsDone) {
  EXPECT_STREQ(ReplicasDifferError(7, "worker 2 has others").what(),
               "replicas differ after 7 steps: worker 2 has others");
}

TEST(ErrorsTest, ResourceErrorNamesTheLimit) {
  EXPECT_STREQ(
      ResourceError("a pipe", EMFILE).what(),
      "the system gives no room for a pipe: Too many open files (the limit of descriptors: "
      "ulimit -n)");
  EXPECT_STREQ(
      ResourceError("a thread", EAGAIN).what(),
      "the system gives no room for a thread: Resource temporarily unavailable (a limit of "
      "processes, ulimit -u or pids.max of a control group; for a thread also ulimit -v)");
  EXPECT_THAT(ResourceError("a sum", ENOMEM).what(), HasSubstr("ulimit -v"));
}

TEST(ErrorsTest, AnErrorWithoutALimitIsToldAsItIs) {
  EXPECT_EQ(ShortageText(ENOSPC), "No space left on device");
}

template <typename Thrown>
std::string LackIn(const Thrown& thrown) {
  try {
    throw thrown;
  } catch (const std::exception&) {
    return LackInCurrentException();
  }
}

TEST(LackOfResources, IsReadFromTheException) {
  EXPECT_THAT(LackIn(ResourceError("a pipe", EMFILE)), HasSubstr("a pipe"));
  EXPECT_THAT(LackIn(std::bad_alloc()), HasSubstr("memory ran out"));
  // As of a thread that cannot start.
  EXPECT_THAT(LackIn(std::system_error(EAGAIN, std::generic_category())), HasSubstr("ulimit -u"));
  EXPECT_EQ(LackIn(std::system_error(ENOENT, std::generic_category())), "");
  EXPECT_EQ(LackIn(InternalError("x")), "");
}

TEST(ErrorsTest, AllAreErrors) {
  EXPECT_THROW(throw UsageError("x"), Error);
  EXPECT_THROW(throw ConfigError("x"), Error);
  EXPECT_THROW(throw MissingBackendError("x"), Error);
  EXPECT_THROW(throw CommError("p", "o", "r"), Error);
  EXPECT_THROW(throw DataError("p", 0, "e"), Error);
  EXPECT_THROW(throw DivergedError("p"), Error);
  EXPECT_THROW(throw ReplicasDifferError(0, "d"), Error);
  EXPECT_THROW(throw ResourceError("w", 0), Error);
  EXPECT_THROW(throw InternalError("x"), Error);
}

}  // namespace
}  // namespace ringside
