#include "ringside/common/security/certificate_flaw.h"

#include <openssl/obj_mac.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <array>

#include "ringside/common/security/openssl_handles.h"

namespace ringside {
namespace {

/// Names come from other processes, so they may hold anything.
std::string NameOf(const X509* certificate) {
  std::array<char, 128> text{};
  if (certificate == nullptr ||
      X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, text.data(),
                                static_cast<int>(text.size())) < 0) {
    return "the certificate";
  }
  std::string name = text.data();
  std::ranges::replace_if(
      name, [](char c) { return c < ' ' || c > '~'; }, '?');
  return "the certificate of '" + name + "'";
}

}  // namespace

std::string CertificateFlaw(const x509_store_ctx_st& verified) {
  const X509* certificate = X509_STORE_CTX_get_current_cert(&verified);
  const std::string name = NameOf(certificate);
  const int error = X509_STORE_CTX_get_error(&verified);
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return name + " ran out on " + TimeText(X509_get0_notAfter(certificate));
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return name + " is not valid before " + TimeText(X509_get0_notBefore(certificate)) +
             "; is a clock wrong?";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return name + " is not signed by the authority in ca.pem";
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
    case X509_V_ERR_HOSTNAME_MISMATCH:
      return name + " is for other hosts";
    default:
      return name + " is refused: " + X509_verify_cert_error_string(error);
  }
}

}  // namespace ringside
