#include "ringside/common/security/make_certificates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(MakeCertificates, HoldsTheHostsThatItIsFor) {
  const KeyedCertificate authority = MakeAuthority({});
  const KeyedCertificate made =
      MakeHostCertificate(authority, {"10.0.0.1", "::1", "node-1.example.org"}, {});
  EXPECT_THAT(HostsOf(made.certificate, "cert.pem"),
              ElementsAre("10.0.0.1", "::1", "node-1.example.org"));
  EXPECT_TRUE(HostsOf(authority.certificate, "ca.pem").empty());
}

TEST(MakeCertificates, EveryKeyIsNew) {
  const KeyedCertificate authority = MakeAuthority({});
  EXPECT_NE(authority.key, MakeAuthority({}).key);
  EXPECT_NE(MakeHostCertificate(authority, {"a"}, {}).key,
            MakeHostCertificate(authority, {"a"}, {}).key);
}

TEST(MakeCertificates, ALongHostNameFits) {
  std::string host(200, 'a');
  host += ".example.org";
  const KeyedCertificate made = MakeHostCertificate(MakeAuthority({}), {host}, {});
  EXPECT_THAT(HostsOf(made.certificate, "cert.pem"), ElementsAre(host));
}

// OpenSSL reads the names as a list: a comma would smuggle a second name in.
TEST(MakeCertificates, RefusesWhatIsNoHost) {
  const KeyedCertificate authority = MakeAuthority({});
  for (const char* host : {"", "a,DNS:b", "a b", "10.0.0.1:80", "*.example.org", "a\n", "@a"}) {
    EXPECT_THROW(MakeHostCertificate(authority, {host}, {}), ConfigError) << host;
  }
  EXPECT_THROW(MakeHostCertificate(authority, {}, {}), ConfigError);
}

TEST(MakeCertificates, RefusesAKeyOfAnotherAuthority) {
  const KeyedCertificate mixed{MakeAuthority({}).certificate, MakeAuthority({}).key};
  EXPECT_THAT([&] { MakeHostCertificate(mixed, {"a"}, {}); },
              ThrowsMessage<ConfigError>(HasSubstr("does not belong")));
}

TEST(MakeCertificates, NamesTheFileWithoutACertificate) {
  EXPECT_THAT([] { HostsOf("nothing", "here/cert.pem"); },
              ThrowsMessage<ConfigError>(HasSubstr("here/cert.pem: holds no certificate")));
}

}  // namespace
}  // namespace ringside
