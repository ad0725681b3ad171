#ifndef RINGSIDE_COMMON_SECURITY_MAKE_CERTIFICATES_H_
#define RINGSIDE_COMMON_SECURITY_MAKE_CERTIFICATES_H_

#include <chrono>
#include <string>
#include <vector>

namespace ringside {

/// A certificate and its private key, both in PEM form.
struct KeyedCertificate {
  std::string certificate;
  std::string key;
};

/// From when until when a certificate is valid, counted from now.
struct CertificateLife {
  std::chrono::seconds begin = std::chrono::minutes(-5);  ///< Clocks of hosts may differ.
  std::chrono::seconds end = std::chrono::hours(24 * 90);
};

/// Makes the certificate of an authority with a name and a key of its own, which signs the
/// certificates of one job. Keys are on the curve P-256. Throws `InternalError`.
KeyedCertificate MakeAuthority(const CertificateLife& life);

/// Makes a certificate for `hosts`: IP addresses and names of hosts, at least one. A process shows
/// it both where it listens and where it connects. Throws `ConfigError` for a text that is no host,
/// or an authority that cannot sign.
KeyedCertificate MakeHostCertificate(const KeyedCertificate& authority,
                                     const std::vector<std::string>& hosts,
                                     const CertificateLife& life);

/// The hosts that a certificate in PEM form is for. Throws `ConfigError` that names `path`.
std::vector<std::string> HostsOf(const std::string& certificate, const std::string& path);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_SECURITY_MAKE_CERTIFICATES_H_
