#ifndef RINGSIDE_TESTS_COMMON_TEST_CERTIFICATES_H_
#define RINGSIDE_TESTS_COMMON_TEST_CERTIFICATES_H_

#include <string>

#include "ringside/common/security/make_certificates.h"
#include "tests/common/temporary_directory.h"

namespace ringside {

/// The certificates of a test's job in a directory, for the hosts 127.0.0.1 and ::1.
class TestCertificates {
 public:
  /// With an authority of its own.
  explicit TestCertificates(const CertificateLife& life = {})
      : TestCertificates(MakeAuthority({}), life) {}
  /// Signed and trusted by this authority.
  explicit TestCertificates(const KeyedCertificate& authority, const CertificateLife& life = {});

  const std::string& path() const { return directory_.path(); }
  std::string Path(const std::string& name) const { return directory_.Path(name); }
  const KeyedCertificate& authority() const { return authority_; }

  /// Replaces key and certificate by new ones that this authority signs.
  void Renew(const KeyedCertificate& authority, const CertificateLife& life = {}) const;
  /// Replaces ca.pem.
  void Trust(const std::string& certificates) const;

 private:
  /// Other processes see the old file or the whole new one.
  void Replace(const std::string& name, const std::string& content) const;

  const TemporaryDirectory directory_;
  const KeyedCertificate authority_;
};

/// Of a certificate that was valid until a minute ago.
inline constexpr CertificateLife kRanOut{.begin = std::chrono::hours(-24),
                                         .end = std::chrono::minutes(-1)};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_COMMON_TEST_CERTIFICATES_H_
