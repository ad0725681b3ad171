#include "ringside/common/core/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

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

TEST(ErrorsTest, AllAreErrors) {
  EXPECT_THROW(throw UsageError("x"), Error);
  EXPECT_THROW(throw ConfigError("x"), Error);
  EXPECT_THROW(throw MissingBackendError("x"), Error);
  EXPECT_THROW(throw CommError("p", "o", "r"), Error);
  EXPECT_THROW(throw DataError("p", 0, "e"), Error);
  EXPECT_THROW(throw DivergedError("p"), Error);
  EXPECT_THROW(throw ReplicasDifferError(0, "d"), Error);
  EXPECT_THROW(throw InternalError("x"), Error);
}

}  // namespace
}  // namespace ringside
