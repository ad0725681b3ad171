#include "ringside/experiments/system/files/certificate_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/common/security/make_certificates.h"
#include "ringside/common/security/tls_files.h"
#include "ringside/experiments/system/files/files.h"
#include "tests/common/temporary_directory.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::chrono::hours kDay{24};

class CertificateFilesTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return certificates_ + "/" + name; }
  std::string Content(const std::string& name) const { return ReadFile(Path(name), 1 << 20); }

  mode_t ModeOf(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(::stat(Path(name).c_str(), &status), 0) << name;
    return status.st_mode & 07777;
  }

  const TemporaryDirectory directory_;
  const std::string certificates_ = directory_.Path("certificates");
};

TEST_F(CertificateFilesTest, MadeFilesCanBeUsed) {
  MakeCertificateFiles(certificates_, {"10.0.0.1", "node-1"}, kDay);
  EXPECT_NO_THROW(CheckTlsFiles(TlsFiles(certificates_)));
  EXPECT_THAT(HostsOf(Content("cert.pem"), "cert.pem"), ElementsAre("10.0.0.1", "node-1"));
}

TEST_F(CertificateFilesTest, OnlyTheUserCanReadTheKeys) {
  const mode_t before = ::umask(0);
  MakeCertificateFiles(certificates_, {"127.0.0.1"}, kDay);
  ::umask(before);
  EXPECT_EQ(ModeOf("key.pem"), 0600U);
  EXPECT_EQ(ModeOf("ca-key.pem"), 0600U);
  EXPECT_EQ(ModeOf("."), 0700U);
}

TEST_F(CertificateFilesTest, NothingIsReplacedByMake) {
  MakeCertificateFiles(certificates_, {"127.0.0.1"}, kDay);
  const std::string key = Content("key.pem");
  EXPECT_THAT([&] { MakeCertificateFiles(certificates_, {"127.0.0.1"}, kDay); },
              ThrowsMessage<ConfigError>(HasSubstr("is there already")));
  EXPECT_EQ(Content("key.pem"), key);
}

TEST_F(CertificateFilesTest, APlantedLinkIsRefused) {
  const std::string victim = directory_.Path("victim");
  std::ofstream(victim) << "precious";
  ASSERT_EQ(::mkdir(certificates_.c_str(), 0700), 0);
  for (const char* name : {"key.pem", "ca-key.pem", "ca.pem", "cert.pem"}) {
    for (const std::string& target : {victim, directory_.Path("nowhere")}) {
      fs::create_symlink(target, Path(name));
      EXPECT_THAT([&] { MakeCertificateFiles(certificates_, {"127.0.0.1"}, kDay); },
                  ThrowsMessage<ConfigError>(HasSubstr(std::string(name) + ": is there already")));
      fs::remove(Path(name));
    }
  }
  EXPECT_EQ(ReadFile(victim, 100), "precious");
  EXPECT_FALSE(fs::exists(directory_.Path("nowhere")));
  EXPECT_TRUE(fs::is_empty(certificates_));
}

// A new key must not go where a planted link leads.
TEST_F(CertificateFilesTest, RenewingReplacesALinkAndLeavesItsTarget) {
  MakeCertificateFiles(certificates_, {"127.0.0.1"}, kDay);
  const std::string victim = directory_.Path("victim");
  std::ofstream(victim) << "precious";
  fs::remove(Path("key.pem"));
  fs::create_symlink(victim, Path("key.pem"));
  RenewCertificateFiles(certificates_, {}, kDay);
  EXPECT_EQ(ReadFile(victim, 100), "precious");
  EXPECT_FALSE(fs::is_symlink(Path("key.pem")));
  EXPECT_EQ(ModeOf("key.pem"), 0600U);
}

TEST_F(CertificateFilesTest, ADirectoryThatOthersCanChangeGetsNoKey) {
  fs::create_directory(certificates_);
  fs::permissions(certificates_, fs::perms(0777));
  EXPECT_THROW(MakeCertificateFiles(certificates_, {"127.0.0.1"}, kDay), ConfigError);
  EXPECT_TRUE(fs::is_empty(certificates_));
}

TEST_F(CertificateFilesTest, RenewingKeepsAuthorityAndHosts) {
  MakeCertificateFiles(certificates_, {"10.0.0.1", "node-1"}, kDay);
  const std::string authority = Content("ca.pem"), key = Content("key.pem");
  RenewCertificateFiles(certificates_, {}, 2 * kDay);
  EXPECT_EQ(Content("ca.pem"), authority);
  EXPECT_NE(Content("key.pem"), key);
  EXPECT_THAT(HostsOf(Content("cert.pem"), "cert.pem"), ElementsAre("10.0.0.1", "node-1"));
  RenewCertificateFiles(certificates_, {"10.0.0.2"}, kDay);
  EXPECT_THAT(HostsOf(Content("cert.pem"), "cert.pem"), ElementsAre("10.0.0.2"));
}

TEST_F(CertificateFilesTest, OnlyTheAuthorityCanRenew) {
  MakeCertificateFiles(certificates_, {"127.0.0.1"}, kDay);
  const std::string certificate = Content("cert.pem");
  fs::permissions(Path("ca-key.pem"), fs::perms(0644));
  EXPECT_THROW(RenewCertificateFiles(certificates_, {}, kDay), ConfigError);
  fs::remove(Path("ca-key.pem"));
  EXPECT_THAT([&] { RenewCertificateFiles(certificates_, {}, kDay); },
              ThrowsMessage<ConfigError>(HasSubstr("ca-key.pem: cannot be read")));
  EXPECT_EQ(Content("cert.pem"), certificate);
}

}  // namespace
}  // namespace ringside
