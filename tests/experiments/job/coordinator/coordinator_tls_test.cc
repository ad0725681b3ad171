#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/common/security/secrets.h"
#include "ringside/experiments/job/coordinator/coordinator.h"
#include "ringside/experiments/job/coordinator/coordinator_client.h"
#include "ringside/paramserver/transports/tls/tls_probe.h"
#include "tests/common/test_certificates.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Deadline Soon() { return Deadline::After(std::chrono::seconds(20)); }

class CoordinatorTlsTest : public ::testing::Test {
 protected:
  CoordinatorClient MakeClient(const std::string& tls) const {
    return CoordinatorClient({.target = coordinator_.target(), .token = token_, .tls = tls});
  }

  static JobState::JoinRequest Worker(int index) {
    return {.who = {Role::kWorker, index}, .pid = 7, .host = "here", .spec_hash = "spec"};
  }

  const std::string token_ = MakeToken();
  const TestCertificates certificates_;
  const std::shared_ptr<JobState> job_state_ = std::make_shared<JobState>(
      JobState::Options{.workers = 2, .servers = 0, .spec_hash = "spec"});
  const Coordinator coordinator_{job_state_, {.token = token_, .tls = certificates_.path()}};
};

TEST_F(CoordinatorTlsTest, MembersWithCertificatesJoin) {
  CoordinatorClient client = MakeClient(certificates_.path());
  EXPECT_EQ(client.Join(Worker(1), Soon()).index, 1);
  client.Set("key", "value");
  EXPECT_EQ(client.Get("key", Soon()), "value");
}

TEST_F(CoordinatorTlsTest, ACertificateIsNoToken) {
  CoordinatorClient client(
      {.target = coordinator_.target(), .token = MakeToken(), .tls = certificates_.path()});
  EXPECT_THAT([&] { client.Join(Worker(0), Soon()); },
              ThrowsMessage<ConfigError>(HasSubstr("token")));
}

TEST_F(CoordinatorTlsTest, ACoordinatorOfAnotherAuthorityIsRefusedByName) {
  const TestCertificates others;
  CoordinatorClient client = MakeClient(others.path());
  try {
    client.Join(Worker(0), Soon());
    FAIL() << "the member accepted the coordinator";
  } catch (const CertificateError& error) {
    EXPECT_EQ(error.peer(), "coordinator " + coordinator_.target());
    EXPECT_THAT(error.what(), HasSubstr("is not signed by the authority in ca.pem"));
  }
  EXPECT_FALSE(job_state_->Joined({Role::kWorker, 0}));
}

TEST_F(CoordinatorTlsTest, AMemberWithoutTlsGetsNowhere) {
  CoordinatorClient client = MakeClient("");
  EXPECT_THROW(client.Get("key", Soon()), CommError);
  EXPECT_THROW(client.Join(Worker(0), Deadline::After(std::chrono::milliseconds(300))), CommError);
  EXPECT_FALSE(job_state_->Joined({Role::kWorker, 0}));
}

TEST_F(CoordinatorTlsTest, ACertificateThatRanOutIsNamedWithTheCoordinator) {
  const TestCertificates own(certificates_.authority());
  certificates_.Renew(certificates_.authority(), kRanOut);
  WaitUntil("the coordinator's new certificate", [&] {
    try {
      CheckTlsPeer("coordinator", coordinator_.target(), TlsFiles(own.path()), Soon());
      return false;
    } catch (const Error&) {
      return true;
    }
  });
  CoordinatorClient client = MakeClient(own.path());
  try {
    client.Join(Worker(0), Soon());
    FAIL() << "the member accepted the coordinator";
  } catch (const CertificateError& error) {
    EXPECT_EQ(error.peer(), "coordinator " + coordinator_.target());
    EXPECT_THAT(error.what(), HasSubstr("ran out on 20"));
  }
}

// A member that has joined keeps its connection. A new member needs the new certificates.
TEST_F(CoordinatorTlsTest, NewCertificatesInTheMiddleOfAJob) {
  const TestCertificates newcomer;
  CoordinatorClient first = MakeClient(certificates_.path());
  first.Join(Worker(0), Soon());
  certificates_.Trust(certificates_.authority().certificate + newcomer.authority().certificate);
  certificates_.Renew(newcomer.authority());
  CoordinatorClient second = MakeClient(newcomer.path());
  WaitUntil("the coordinator's new certificate", [&] {
    try {
      second.Join(Worker(1), Soon());
      return true;
    } catch (const Error&) {
      return false;
    }
  });
  second.Set("key", "value");
  EXPECT_EQ(first.Get("key", Soon()), "value");
}

TEST_F(CoordinatorTlsTest, UnusableCertificatesAreRefusedAtOnce) {
  std::filesystem::permissions(certificates_.Path("key.pem"), std::filesystem::perms(0644));
  EXPECT_THROW(Coordinator(job_state_, {.token = token_, .tls = certificates_.path()}),
               ConfigError);
  EXPECT_THROW(MakeClient(certificates_.path()), ConfigError);
}

}  // namespace
}  // namespace ringside
