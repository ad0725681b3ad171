#include "ringside/experiments/job/launcher/network_protection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/paramserver/transports/transport_table.h"
#include "tests/common/test_certificates.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr char kOpen[] = "192.0.2.1";

RunSpec Under(const std::string& strategy) {
  RunSpec spec = ProfileSpec("ring", 2, 3);
  spec.strategy = strategy;
  return spec;
}

RunSpec ServersOver(const std::string& transport) {
  RunSpec spec = Under("ps-sync");
  spec.options.Set(kPsTransport, transport);
  return spec;
}

class NetworkProtection : public ::testing::Test {
 protected:
  const TestCertificates certificates_;
  const JobOptions plain_{};
  const JobOptions encrypted_{.bundle_dir = "", .tls = certificates_.path()};
  const JobOptions insecure_{.bundle_dir = "", .insecure_network = true};
};

TEST_F(NetworkProtection, LoopbackNeedsNone) {
  for (const char* address : {"127.0.0.1", "127.3.2.1", "::1"}) {
    for (const char* strategy : {"ring", "ps-sync", "none"}) {
      EXPECT_NO_THROW(RequireProtectedNetwork(Under(strategy), plain_, address));
    }
  }
}

TEST_F(NetworkProtection, AnotherAddressNeedsCertificatesOrConsent) {
  for (const char* address : {kOpen, "0.0.0.0", "::", "2001:db8::1"}) {
    EXPECT_THAT([&] { RequireProtectedNetwork(ServersOver("grpc"), plain_, address); },
                ThrowsMessage<ConfigError>(AllOf(HasSubstr(address), HasSubstr("--tls DIR"),
                                                 HasSubstr("--insecure-network"))));
    EXPECT_NO_THROW(RequireProtectedNetwork(ServersOver("grpc"), encrypted_, address));
    EXPECT_NO_THROW(RequireProtectedNetwork(ServersOver("grpc"), insecure_, address));
  }
}

TEST_F(NetworkProtection, DataThatTlsDoesNotEncryptNeedsConsentToo) {
  const auto refusal = [&](const RunSpec& spec, const std::string& transport) {
    EXPECT_THAT([&] { RequireProtectedNetwork(spec, encrypted_, kOpen); },
                ThrowsMessage<ConfigError>(
                    AllOf(HasSubstr("over " + transport), HasSubstr("--ps-transport grpc"))));
    JobOptions both = encrypted_;
    both.insecure_network = true;
    EXPECT_NO_THROW(RequireProtectedNetwork(spec, both, kOpen));
  };
  refusal(ServersOver("tcp"), "tcp");
  refusal(Under("ring"), "tcp");
  refusal(Under("local-sgd"), "tcp");
  refusal(Under("hierarchical"), "");
  refusal(Under("auto"), "");
}

TEST_F(NetworkProtection, WhatLeavesNoHostNeedsNoConsent) {
  for (const char* transport : {"uds", "shm"}) {
    EXPECT_NO_THROW(RequireProtectedNetwork(ServersOver(transport), encrypted_, kOpen));
  }
  for (const char* strategy : {"none", "shm"}) {
    EXPECT_NO_THROW(RequireProtectedNetwork(Under(strategy), encrypted_, kOpen));
  }
}

TEST_F(NetworkProtection, CertificatesMustBeUsableOnLoopbackToo) {
  certificates_.Renew(certificates_.authority(), kRanOut);
  EXPECT_THAT([&] { RequireProtectedNetwork(ServersOver("grpc"), encrypted_, "127.0.0.1"); },
              ThrowsMessage<ConfigError>(HasSubstr("ran out on")));
}

TEST_F(NetworkProtection, CertificatesOfAnotherMachineAreNotLookedAt) {
  const JobOptions elsewhere{.bundle_dir = "", .tls = "/no/certificates"};
  EXPECT_NO_THROW(RequireEncryption(ServersOver("grpc"), elsewhere, kOpen));
  EXPECT_THROW(RequireProtectedNetwork(ServersOver("grpc"), elsewhere, kOpen), ConfigError);
  EXPECT_THROW(RequireEncryption(Under("ring"), elsewhere, kOpen), ConfigError);
  EXPECT_THROW(RequireEncryption(ServersOver("grpc"), plain_, kOpen), ConfigError);
}

TEST_F(NetworkProtection, ANameIsNoAddress) {
  EXPECT_THROW(RequireProtectedNetwork(ServersOver("grpc"), plain_, "localhost"), ConfigError);
}

}  // namespace
}  // namespace ringside
