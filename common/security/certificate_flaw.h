#ifndef RINGSIDE_COMMON_SECURITY_CERTIFICATE_FLAW_H_
#define RINGSIDE_COMMON_SECURITY_CERTIFICATE_FLAW_H_

#include <string>

// OpenSSL calls it X509_STORE_CTX.
struct x509_store_ctx_st;  // NOLINT(readability-identifier-naming)

namespace ringside {

/// Why OpenSSL has refused a chain of certificates, with the name of the certificate and, if it has
/// run out, the time: "the certificate of 'node-1' ran out on 2027-01-31 12:00:00 UTC".
std::string CertificateFlaw(const x509_store_ctx_st& verified);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_SECURITY_CERTIFICATE_FLAW_H_
