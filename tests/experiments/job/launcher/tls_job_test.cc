// Whole jobs with certificates. `ringside` lies beside this test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/job/launcher/run_job.h"
#include "ringside/experiments/system/processes/process.h"
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

// Whoever is connected stays so. Who comes later is refused, so that the job cannot start again.
TEST_F(TlsJobTest, ItsCertificateRunsOutWhileItRuns) {
  constexpr auto kLife = std::chrono::seconds(20);
  const auto ends = std::chrono::steady_clock::now() + kLife;
  certificates_.Renew(certificates_.authority(), {.begin = std::chrono::hours(-1), .end = kLife});
  const std::string command = "exec " + RingsideProgram() +
                              " train --strategy ps-sync --ps-transport grpc --workers 2 --tls " +
                              certificates_.path() +
                              " --model profile:small-tensors --on-failure restart --steps "
                              "10000000 --quiet --out " +
                              bundle();
  Process launcher({.argv = {"/bin/sh", "-c", command}});
  WaitUntil("a step", [&] { return CommonStepsIn(bundle()) >= 1 || launcher.Poll(); });
  ASSERT_LT(std::chrono::steady_clock::now(), ends) << "the job has not begun in time";
  // This sleep is no synchronisation: the test is about the time that a certificate is valid.
  std::this_thread::sleep_until(ends + std::chrono::seconds(2));
  const int steps = CommonStepsIn(bundle());
  WaitUntil("more steps", [&] { return CommonStepsIn(bundle()) > steps + 20 || launcher.Poll(); });
  ASSERT_FALSE(launcher.Poll()) << "the job has ended";
  const std::vector<pid_t> members = PidsIn(bundle());
  ASSERT_EQ(members.size(), 3U);
  ASSERT_EQ(::kill(PidIn(bundle(), "worker 1"), SIGKILL), 0);
  WaitUntil("the launcher's end", [&] { return launcher.Poll().has_value(); });
  EXPECT_EQ(launcher.Poll()->code, 1);
  std::ifstream file(bundle() + "/summary.json");
  const auto summary = nlohmann::json::parse(file);
  EXPECT_THAT(summary["error"].get<std::string>(),
              HasSubstr("killed by signal 9 before it handed in a result; the run cannot start "
                        "again: " +
                        certificates_.Path("cert.pem") + ": the certificate of"));
  EXPECT_EQ(summary["failure"]["kind"], "signal");
  EXPECT_EQ(summary["failure"]["member"], "worker 1");
  for (const pid_t pid : members) EXPECT_TRUE(ProcessesOfGroup(pid).empty());
}

}  // namespace
}  // namespace ringside
