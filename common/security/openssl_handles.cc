#include "ringside/common/security/openssl_handles.h"

#include <openssl/asn1.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <array>
#include <ctime>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

BioPointer Reader(const std::string& text) {
  BioPointer reader(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  if (reader == nullptr) throw InternalError("OpenSSL has no memory");
  return reader;
}

/// OpenSSL would ask the terminal for the password of an encrypted key.
int NoPassword(char*, int, int, void*) { return -1; }

}  // namespace

std::vector<CertificatePointer> ParseCertificates(const std::string& pem, const std::string& path) {
  const BioPointer reader = Reader(pem);
  std::vector<CertificatePointer> certificates;
  while (X509* next = PEM_read_bio_X509(reader.get(), nullptr, NoPassword, nullptr)) {
    certificates.emplace_back(next);
  }
  ERR_clear_error();  // the end of the text is an error, too
  if (certificates.empty()) throw ConfigError(path + ": holds no certificate in PEM form");
  return certificates;
}

KeyPointer ParseKey(const std::string& pem, const std::string& path) {
  const BioPointer reader = Reader(pem);
  KeyPointer key(PEM_read_bio_PrivateKey(reader.get(), nullptr, NoPassword, nullptr));
  ERR_clear_error();
  if (key == nullptr)
    throw ConfigError(path + ": holds no private key in PEM form without password");
  return key;
}

std::string TimeText(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "an unknown time";
  std::array<char, 32> text{};
  const std::size_t length =
      std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return {text.data(), length};
}

}  // namespace ringside
