#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/checkpoint/params_file.h"
#include "ringside/experiments/verify/equivalence.h"
#include "ringside/experiments/verify/verify_runner.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(Equivalence, MeasuresTheRelativeDifference) {
  const std::vector<float> reference{3, 4};
  EXPECT_EQ(RelativeDifference(reference, reference), 0);
  EXPECT_DOUBLE_EQ(RelativeDifference(std::vector<float>{3, 5}, reference), 0.2);
  EXPECT_DOUBLE_EQ(RelativeDifference(std::vector<float>{0, 2}, std::vector<float>{0, 0}), 2);
  EXPECT_EQ(RelativeDifference({}, {}), 0);
}

TEST(Equivalence, IsInfiniteForWhatCannotBeCompared) {
  const std::vector<float> reference{3, 4};
  EXPECT_TRUE(std::isinf(RelativeDifference(std::vector<float>{3}, reference)));
  EXPECT_TRUE(std::isinf(RelativeDifference(std::vector<float>{3, NAN}, reference)));
  EXPECT_TRUE(std::isinf(RelativeDifference(
      std::vector<float>{3, std::numeric_limits<float>::infinity()}, reference)));
}

TEST(Equivalence, ComparesBitsNotValues) {
  EXPECT_TRUE(BitwiseEqual(std::vector<float>{1, NAN}, std::vector<float>{1, NAN}));
  EXPECT_FALSE(BitwiseEqual(std::vector<float>{0.0F}, std::vector<float>{-0.0F}));
  EXPECT_FALSE(BitwiseEqual(std::vector<float>{1}, std::vector<float>{1, 1}));
  EXPECT_TRUE(BitwiseEqual({}, {}));
}

VerifyRequest Request() {
  VerifyRequest request;
  request.base = RunSpec(TestCatalog());
  request.base.model = "profile:resnet50";
  request.base.steps = 5;
  request.base.optimizer.momentum = 0.9;
  request.strategies = {"ring", "ps-sync"};
  request.workers = {1, 2};
  request.servers = {1, 2, 3};
  request.optimizers = {"sgd", "adam"};
  return request;
}

TEST(VerifyPlan, CrossesStrategiesWorkersAndServers) {
  const auto groups = PlanVerification(Request());
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].limit, 1e-5);
  EXPECT_EQ(groups[1].limit, 1e-4);
  EXPECT_EQ(groups[0].reference.strategy, "none");
  EXPECT_EQ(groups[0].reference.workers, 1);
  EXPECT_EQ(groups[0].reference.optimizer.momentum, 0.9);
  EXPECT_EQ(groups[1].reference.optimizer.momentum, 0);
  EXPECT_EQ(groups[1].reference.learning_rate, 1e-3);
  // Two rings, two times three of the parameter server.
  EXPECT_EQ(groups[0].checks.size(), 8U);
  for (const VerifyCheck& check : groups[0].checks) {
    EXPECT_TRUE(check.spec.save_params);
    EXPECT_EQ(check.spec.ResolvedGlobalBatch(), groups[0].reference.ResolvedGlobalBatch());
    const bool last =
        check.label == "sgd ring workers=2" || check.label == "sgd ps-sync workers=2 servers=3";
    EXPECT_EQ(check.repeat, last) << check.label;
  }
}

TEST(VerifyPlan, EmulatedHostsAreOfTheComparedRunsAlone) {
  VerifyRequest request = Request();
  request.workers = {3};
  request.base.hosts = 2;
  for (const VerifyGroup& group : PlanVerification(request)) {
    EXPECT_EQ(group.reference.hosts, 0);
    for (const VerifyCheck& check : group.checks) EXPECT_EQ(check.spec.hosts, 2) << check.label;
  }
  request.base.network = ParseNetwork("hosts=3,rate=1Gbps");
  request.base.hosts = 0;
  request.base.dilation = {.factor = 4};
  for (const VerifyGroup& group : PlanVerification(request)) {
    EXPECT_FALSE(group.reference.network);
    for (const VerifyCheck& check : group.checks) EXPECT_EQ(check.spec.dilation.factor, 4);
    for (const VerifyCheck& check : group.checks) EXPECT_EQ(check.spec.hosts, 3) << check.label;
  }
}

TEST(VerifyPlan, RefusesStrategiesThatPromiseNothing) {
  VerifyRequest request = Request();
  request.strategies = {"ps-async"};
  EXPECT_THROW(PlanVerification(request), SpecKeyError);
  request.strategies = {"rng"};
  EXPECT_THROW(PlanVerification(request), SpecKeyError);
}

// Replaces the job: writes parameters that depend on the spec as the test says.
class VerifyRunnerTest : public ::testing::Test {
 protected:
  VerifyRunnerTest()
      : directory_(fs::path(::testing::TempDir()) /
                   ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(directory_);
    request_ = Request();
    request_.optimizers = {"sgd"};
    request_.servers = {1};
  }
  ~VerifyRunnerTest() override { fs::remove_all(directory_); }

  VerifyResult Run() {
    return RunVerification(
        PlanVerification(request_), directory_, {},
        [this](const RunSpec& spec, const JobOptions& options) { return Carry(spec, options); },
        [](const VerifyRow&, int, int) {});
  }

  JobOutcome Carry(const RunSpec& spec, const JobOptions& options) {
    ++carried_;
    JobOutcome outcome;
    outcome.status = JobStatus::kDone;
    if (spec.strategy == fails_) {
      outcome.status = JobStatus::kFailed;
      outcome.error = "worker 1 was killed";
      return outcome;
    }
    if (carried_ == interrupt_at_) outcome.status = JobStatus::kInterrupted;
    outcome.stop_requested = carried_ == signalled_at_;
    std::vector<float> params{3, 4};
    if (spec.strategy == drifts_) params[1] += 0.01F;
    if (spec.strategy == wavers_) params[1] += 1e-6F * static_cast<float>(carried_);
    fs::create_directories(options.bundle_dir);
    WriteParams(options.bundle_dir + "/params.bin", params);
    return outcome;
  }

  fs::path directory_;
  VerifyRequest request_;
  std::string fails_, drifts_, wavers_;
  int carried_ = 0;
  int interrupt_at_ = 0;
  int signalled_at_ = 0;  // too late to interrupt that run
};

TEST_F(VerifyRunnerTest, AllIsWell) {
  const VerifyResult result = Run();
  ASSERT_EQ(result.rows.size(), 4U);
  // The reference, four checks, one repeat a strategy.
  EXPECT_EQ(carried_, 7);
  int repeated = 0;
  for (const VerifyRow& row : result.rows) {
    EXPECT_TRUE(row.ok());
    repeated += row.same_twice.has_value() ? 1 : 0;
  }
  EXPECT_EQ(repeated, 2);
}

TEST_F(VerifyRunnerTest, ADriftFails) {
  drifts_ = "ps-sync";
  for (const VerifyRow& row : Run().rows) EXPECT_EQ(row.ok(), row.spec.strategy != "ps-sync");
}

TEST_F(VerifyRunnerTest, BitsThatChangeFailThoughTheDifferenceIsSmall) {
  wavers_ = "ring";
  for (const VerifyRow& row : Run().rows) {
    EXPECT_LT(*row.difference, row.limit);
    EXPECT_EQ(row.ok(), row.spec.strategy != "ring" || !row.same_twice.has_value());
  }
}

TEST_F(VerifyRunnerTest, AFailedRunFailsItsCheckAlone) {
  fails_ = "ring";
  for (const VerifyRow& row : Run().rows) {
    EXPECT_EQ(row.ok(), row.spec.strategy != "ring");
    if (row.ok()) continue;
    EXPECT_THAT(row.error, HasSubstr("worker 1 was killed"));
  }
}

TEST_F(VerifyRunnerTest, AFailedReferenceFailsAll) {
  fails_ = "none";
  const VerifyResult result = Run();
  EXPECT_EQ(result.rows.size(), 4U);
  EXPECT_EQ(carried_, 1);
  for (const VerifyRow& row : result.rows) EXPECT_THAT(row.error, HasSubstr("single worker"));
}

TEST_F(VerifyRunnerTest, AnInterruptEndsIt) {
  interrupt_at_ = 3;
  const VerifyResult result = Run();
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.rows.size(), 1U);
}

TEST_F(VerifyRunnerTest, ASignalAtTheEndOfARunEndsIt) {
  signalled_at_ = 3;
  EXPECT_TRUE(Run().interrupted);
  EXPECT_EQ(carried_, 3);
}

}  // namespace
}  // namespace ringside
