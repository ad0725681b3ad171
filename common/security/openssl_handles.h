#ifndef RINGSIDE_COMMON_SECURITY_OPENSSL_HANDLES_H_
#define RINGSIDE_COMMON_SECURITY_OPENSSL_HANDLES_H_

// Private to the .cc files of this folder.

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <vector>

namespace ringside {

/// Gives an object back to OpenSSL.
template <auto kFree>
struct OpensslDelete {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};

using BioPointer = std::unique_ptr<BIO, OpensslDelete<BIO_free>>;
using BigNumberPointer = std::unique_ptr<BIGNUM, OpensslDelete<BN_free>>;
using KeyPointer = std::unique_ptr<EVP_PKEY, OpensslDelete<EVP_PKEY_free>>;
using CertificatePointer = std::unique_ptr<X509, OpensslDelete<X509_free>>;
using ExtensionPointer = std::unique_ptr<X509_EXTENSION, OpensslDelete<X509_EXTENSION_free>>;
using NamesPointer = std::unique_ptr<GENERAL_NAMES, OpensslDelete<GENERAL_NAMES_free>>;
using TrustPointer = std::unique_ptr<X509_STORE, OpensslDelete<X509_STORE_free>>;
using VerificationPointer = std::unique_ptr<X509_STORE_CTX, OpensslDelete<X509_STORE_CTX_free>>;

/// All certificates of a PEM text, at least one. Other parts of the text are skipped. Throws
/// `ConfigError` that names `path`.
std::vector<CertificatePointer> ParseCertificates(const std::string& pem, const std::string& path);
/// The first private key of a PEM text, which is not encrypted. Throws `ConfigError` that names
/// `path`.
KeyPointer ParseKey(const std::string& pem, const std::string& path);

/// "2027-01-31 12:00:00 UTC".
std::string TimeText(const ASN1_TIME* time);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_SECURITY_OPENSSL_HANDLES_H_
