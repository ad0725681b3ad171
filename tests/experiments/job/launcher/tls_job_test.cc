// Whole jobs with certificates. `ringside` lies beside this test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <string>

#include "ringside/common/core/errors.h"
#include "ringside/experiments/job/launcher/run_job.h"
#include "ringside/paramserver/transports/transport_table.h"
#include "tests/common/temporary_directory.h"
#include "tests/common/test_certificates.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class TlsJobTest : public ::testing::Test {
 protected:
  std::string bundle() const { return directory_.path() + "/bundle"; }

  JobOptions Options() const {
    return {.bundle_dir = bundle(),
            .tls = certificates_.path(),
            .show_progress = false,
            .echo_logs = false,
            .program = RingsideProgram()};
  }

  static RunSpec Servers(int steps) {
    RunSpec spec = ProfileSpec("ps-sync", 2, steps);
    spec.options.Set(kPsTransport, "grpc");
    return spec;
  }

  const TemporaryDirectory directory_;
  const TestCertificates certificates_;
};

TEST_F(TlsJobTest, ServersAndCoordinatorAreEncrypted) {
  const JobOutcome outcome = RunJob(Servers(4), Options());
  ASSERT_EQ(outcome.status, JobStatus::kDone) << outcome.error;
  EXPECT_EQ(outcome.summary["tls"], true);
  EXPECT_EQ(outcome.summary["transport"], "grpc");
  EXPECT_EQ(outcome.summary["steps"], 4);
}

TEST_F(TlsJobTest, ARingMeetsOverAnEncryptedCoordinator) {
  const JobOutcome outcome = RunJob(ProfileSpec("ring", 2, 3), Options());
  ASSERT_EQ(outcome.status, JobStatus::kDone) << outcome.error;
  EXPECT_EQ(outcome.summary["tls"], true);
}

TEST_F(TlsJobTest, CertificatesMayBeReplacedWhileItRuns) {
  constexpr int kSteps = 100;
  auto outcome = std::async(std::launch::async, [&] { return RunJob(Servers(kSteps), Options()); });
  WaitUntil("a step", [&] { return StepsIn(bundle()) >= 1; });
  const KeyedCertificate next = MakeAuthority({});
  certificates_.Trust(certificates_.authority().certificate + next.certificate);
  certificates_.Renew(next);
  certificates_.Trust(next.certificate);
  const JobOutcome ended = outcome.get();
  EXPECT_EQ(ended.status, JobStatus::kDone) << ended.error;
  EXPECT_EQ(ended.summary["steps"], kSteps);
}

TEST_F(TlsJobTest, NothingStartsWithACertificateThatRanOut) {
  certificates_.Renew(certificates_.authority(), kRanOut);
  EXPECT_THAT([&] { RunJob(Servers(4), Options()); },
              ThrowsMessage<ConfigError>(HasSubstr("ran out on")));
  EXPECT_FALSE(std::filesystem::exists(bundle()));
}

}  // namespace
}  // namespace ringside
