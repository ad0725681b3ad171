#include "ringside/experiments/worker/replica_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "ringside/common/base/errors.h"
#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;
using Hashes = std::vector<std::string>;

TEST(ReplicaDifference, IsEmptyWhereAllAreEqual) {
  EXPECT_EQ(ReplicaDifference({}), "");
  EXPECT_EQ(ReplicaDifference(Hashes{"a"}), "");
  EXPECT_EQ(ReplicaDifference(Hashes{"a", "a", "a"}), "");
}

TEST(ReplicaDifference, NamesTheWorkersOutsideTheLargestGroup) {
  EXPECT_EQ(ReplicaDifference(Hashes{"a", "a", "b", "a"}),
            "worker 2 has other parameters than workers 0, 1 and 3");
  EXPECT_EQ(ReplicaDifference(Hashes{"c", "a", "b", "a"}),
            "workers 0 and 2 have other parameters than workers 1 and 3");
}

TEST(ReplicaDifference, BlamesNobodyWithoutAMajority) {
  EXPECT_EQ(ReplicaDifference(Hashes{"b", "a"}),
            "worker 0 and worker 1 have different parameters, and no more workers have one than "
            "the other");
  EXPECT_EQ(ReplicaDifference(Hashes{"b", "a", "a", "b"}),
            "workers 0 and 3 and workers 1 and 2 have different parameters, and no more workers "
            "have one than the other");
}

TEST(CheckReplicas, FindsOneBitOfOneParameterOnEveryWorker) {
  InProcessStore store;
  const RankOutcomes outcomes = TryRanks(3, [&](int rank) {
    ExchangeSeries exchanges(store, TestWorld(rank, 3));
    std::vector<float> params(1000, 1.0F);
    CheckReplicas(params, 10, exchanges, Deadline::After(10s));
    if (rank == 1) params[777] = 1.0F + 0x1p-23F;
    CheckReplicas(params, 20, exchanges, Deadline::After(10s));
  });
  ASSERT_EQ(outcomes.failures(), 3);
  for (const std::exception_ptr& failure : outcomes.by_rank) {
    try {
      std::rethrow_exception(failure);
    } catch (const ReplicasDifferError& error) {
      EXPECT_STREQ(error.what(),
                   "replicas differ after 20 steps: worker 1 has other parameters than workers 0 "
                   "and 2");
    }
  }
}

TEST(CheckReplicas, NamesAWorkerThatDoesNotCome) {
  InProcessStore store;
  ExchangeSeries exchanges(store, TestWorld(0, 2));
  try {
    CheckReplicas({}, 10, exchanges, Deadline::After(20ms));
    FAIL() << "no error";
  } catch (const CommError& error) {
    EXPECT_THAT(error.what(), HasSubstr("worker 1"));
  }
}

}  // namespace
}  // namespace ringside
