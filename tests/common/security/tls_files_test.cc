#include "ringside/common/security/tls_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "ringside/common/base/errors.h"
#include "tests/common/test_certificates.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::ThrowsMessage;

class TlsFilesTest : public ::testing::Test {
 protected:
  TlsFiles Files() const { return TlsFiles(certificates_.path()); }

  void ExpectRefusal(const std::string& text) const {
    EXPECT_THAT([&] { CheckTlsFiles(Files()); }, ThrowsMessage<ConfigError>(HasSubstr(text)));
  }

  const TestCertificates certificates_;
};

TEST_F(TlsFilesTest, NewCertificatesAreFine) {
  EXPECT_NO_THROW(CheckTlsFiles(Files()));
  EXPECT_THAT(EndOfCertificate(Files()),
              MatchesRegex("20[0-9][0-9]-[0-9-]+ [0-9][0-9]:[0-9][0-9]:[0-9][0-9] UTC"));
}

TEST_F(TlsFilesTest, AMissingFileIsNamed) {
  for (const char* name : {"ca.pem", "cert.pem", "key.pem"}) {
    const TestCertificates others;
    fs::remove(others.Path(name));
    EXPECT_THAT([&] { CheckTlsFiles(TlsFiles(others.path())); },
                ThrowsMessage<ConfigError>(HasSubstr(std::string(name) + ": cannot open")));
  }
  EXPECT_THROW(CheckTlsFiles(TlsFiles("/nonexistent")), ConfigError);
}

TEST_F(TlsFilesTest, AKeyThatOthersCanReadIsRefused) {
  for (const int mode : {0640, 0604, 0620, 0602, 0644, 0777}) {
    ASSERT_EQ(::chmod(certificates_.Path("key.pem").c_str(), static_cast<mode_t>(mode)), 0);
    ExpectRefusal("key.pem: expected a file of this user's that nobody else can read");
  }
  ASSERT_EQ(::chmod(certificates_.Path("key.pem").c_str(), 0400), 0);
  EXPECT_NO_THROW(CheckTlsFiles(Files()));
}

TEST_F(TlsFilesTest, FilesThatOthersCanChangeAreRefused) {
  for (const char* name : {"ca.pem", "cert.pem"}) {
    ASSERT_EQ(::chmod(certificates_.Path(name).c_str(), 0666), 0);
    ExpectRefusal(std::string(name) + ": other users can change it");
    ASSERT_EQ(::chmod(certificates_.Path(name).c_str(), 0644), 0);
  }
  EXPECT_NO_THROW(CheckTlsFiles(Files()));
  ASSERT_EQ(::chmod(certificates_.path().c_str(), 0777), 0);
  ExpectRefusal("other users can change what is in this directory");
}

TEST_F(TlsFilesTest, ALinkInPlaceOfTheKeyIsRefused) {
  fs::rename(certificates_.Path("key.pem"), certificates_.Path("elsewhere.pem"));
  fs::create_symlink(certificates_.Path("elsewhere.pem"), certificates_.Path("key.pem"));
  ExpectRefusal("key.pem: is a symbolic link");
}

TEST_F(TlsFilesTest, APipeIsRefusedWithoutWaiting) {
  fs::remove(certificates_.Path("key.pem"));
  ASSERT_EQ(::mkfifo(certificates_.Path("key.pem").c_str(), 0600), 0);
  ExpectRefusal("key.pem: expected a file");
}

TEST_F(TlsFilesTest, TheKeyMustBelongToTheCertificate) {
  const TestCertificates others;
  fs::copy_file(others.Path("key.pem"), certificates_.Path("key.pem"),
                fs::copy_options::overwrite_existing);
  ExpectRefusal("key.pem: does not belong to ");
}

TEST_F(TlsFilesTest, AnotherAuthorityIsRefused) {
  certificates_.Trust(MakeAuthority({}).certificate);
  ExpectRefusal("cert.pem: the certificate of 'Ringside 127.0.0.1' is not signed by the authority");
}

TEST_F(TlsFilesTest, SeveralAuthoritiesMayBeTrusted) {
  certificates_.Trust(MakeAuthority({}).certificate + certificates_.authority().certificate);
  EXPECT_NO_THROW(CheckTlsFiles(Files()));
}

TEST_F(TlsFilesTest, ACertificateThatRanOutIsNamedWithItsEnd) {
  certificates_.Renew(certificates_.authority(), kRanOut);
  ExpectRefusal("cert.pem: the certificate of 'Ringside 127.0.0.1' ran out on 20");
  certificates_.Renew(certificates_.authority(),
                      {.begin = std::chrono::hours(1), .end = std::chrono::hours(2)});
  ExpectRefusal("is not valid before 20");
}

TEST_F(TlsFilesTest, AnAuthorityThatRanOutIsRefused) {
  const KeyedCertificate authority = MakeAuthority(kRanOut);
  certificates_.Trust(authority.certificate);
  certificates_.Renew(authority);
  ExpectRefusal("the certificate of 'Ringside authority ");
}

TEST_F(TlsFilesTest, GarbageIsRefused) {
  for (const char* name : {"ca.pem", "cert.pem", "key.pem"}) {
    const TestCertificates others;
    std::ofstream(others.Path(name)) << "-----BEGIN CERTIFICATE-----\nAAAA\n";
    EXPECT_THROW(CheckTlsFiles(TlsFiles(others.path())), ConfigError) << name;
  }
  std::ofstream(certificates_.Path("cert.pem")) << std::string(2 << 20, 'x');
  ExpectRefusal("cert.pem: is too long");
}

}  // namespace
}  // namespace ringside
