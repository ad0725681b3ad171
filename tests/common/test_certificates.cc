#include "tests/common/test_certificates.h"

#include <filesystem>
#include <fstream>

namespace ringside {

namespace fs = std::filesystem;

TestCertificates::TestCertificates(const KeyedCertificate& authority, const CertificateLife& life)
    : authority_(authority) {
  Trust(authority.certificate);
  Renew(authority, life);
}

void TestCertificates::Renew(const KeyedCertificate& authority, const CertificateLife& life) const {
  const KeyedCertificate made = MakeHostCertificate(authority, {"127.0.0.1", "::1"}, life);
  Replace("key.pem", made.key);
  Replace("cert.pem", made.certificate);
}

void TestCertificates::Trust(const std::string& certificates) const {
  Replace("ca.pem", certificates);
}

void TestCertificates::Replace(const std::string& name, const std::string& content) const {
  const std::string temporary = Path(name + ".new");
  std::ofstream(temporary) << content;
  fs::permissions(temporary, fs::perms::owner_read | fs::perms::owner_write);
  fs::rename(temporary, Path(name));
}

}  // namespace ringside
