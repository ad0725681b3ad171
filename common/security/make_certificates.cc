#include "ringside/common/security/make_certificates.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/asn1.h>
#include <openssl/err.h>
#include <openssl/obj_mac.h>
#include <openssl/pem.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/common/security/openssl_handles.h"
#include "ringside/common/security/secrets.h"

namespace ringside {
namespace {

constexpr int kSerialBits = 127;
constexpr std::size_t kNameBytes = 4;  // random, so that no two authorities have one name
constexpr std::size_t kMostHostBytes = 253;
constexpr std::size_t kMostNameBytes = 64;
constexpr int kIpv4Bytes = 4;
constexpr int kIpv6Bytes = 16;

/// OpenSSL fails at these steps only without memory or random numbers.
void Require(bool done, const char* step) {
  if (done) return;
  ERR_clear_error();
  throw InternalError(std::string("OpenSSL cannot ") + step);
}

void SetSerial(X509* certificate) {
  const BigNumberPointer number(BN_new());
  Require(number != nullptr &&
              BN_rand(number.get(), kSerialBits, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
              BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr,
          "number a certificate");
}

void SetLife(X509* certificate, const CertificateLife& life) {
  Require(X509_gmtime_adj(X509_getm_notBefore(certificate), life.begin.count()) != nullptr &&
              X509_gmtime_adj(X509_getm_notAfter(certificate), life.end.count()) != nullptr,
          "set the times of a certificate");
}

/// A certificate for a new key, without extensions.
CertificatePointer MakeUnsigned(const std::string& name, EVP_PKEY* key,
                                const CertificateLife& life) {
  CertificatePointer certificate(X509_new());
  Require(certificate != nullptr && X509_set_version(certificate.get(), X509_VERSION_3) == 1 &&
              X509_set_pubkey(certificate.get(), key) == 1,
          "make a certificate");
  SetSerial(certificate.get());
  SetLife(certificate.get(), life);
  const auto* text = reinterpret_cast<const unsigned char*>(name.c_str());
  Require(X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                                     text, -1, -1, 0) == 1,
          "name a certificate");
  return certificate;
}

void AddExtension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const ExtensionPointer extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  Require(extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1,
          "add an extension to a certificate");
}

void Sign(X509* certificate, X509* issuer, EVP_PKEY* key) {
  Require(X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1 &&
              X509_sign(certificate, key, EVP_sha256()) > 0,
          "sign a certificate");
}

KeyPointer MakeKey() {
  KeyPointer key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  Require(key != nullptr, "make a key");
  return key;
}

std::string TextOf(BIO* written) {
  char* text = nullptr;
  const long length = BIO_get_mem_data(written, &text);
  return {text, static_cast<std::size_t>(std::max(length, 0L))};
}

KeyedCertificate ToPem(X509* certificate, EVP_PKEY* key) {
  const BioPointer first(BIO_new(BIO_s_mem()));
  const BioPointer second(BIO_new(BIO_s_mem()));
  Require(
      first != nullptr && second != nullptr && PEM_write_bio_X509(first.get(), certificate) == 1 &&
          PEM_write_bio_PrivateKey(second.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1,
      "write a certificate");
  return {TextOf(first.get()), TextOf(second.get())};
}

/// "IP:10.0.0.1" or "DNS:node-1". Nothing else may get in: OpenSSL reads a list from the text.
std::string AlternativeName(const std::string& host) {
  std::array<unsigned char, kIpv6Bytes> address{};
  if (::inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
      ::inet_pton(AF_INET6, host.c_str(), address.data()) == 1) {
    return "IP:" + host;
  }
  const bool is_name = !host.empty() && host.size() <= kMostHostBytes &&
                       std::ranges::all_of(host, [](unsigned char c) {
                         return std::isalnum(c) != 0 || c == '-' || c == '.';
                       });
  if (!is_name) {
    throw ConfigError("'" + host + "' is neither an IP address nor the name of a host");
  }
  return "DNS:" + host;
}

std::string AlternativeNames(const std::vector<std::string>& hosts) {
  if (hosts.empty()) throw ConfigError("a certificate is for at least one host");
  std::string names;
  for (const std::string& host : hosts) {
    if (!names.empty()) names += ',';
    names += AlternativeName(host);
  }
  return names;
}

std::string HostText(const GENERAL_NAME& name) {
  if (name.type == GEN_DNS) {
    return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(name.d.dNSName)),
            static_cast<std::size_t>(ASN1_STRING_length(name.d.dNSName))};
  }
  if (name.type != GEN_IPADD) return {};
  const int bytes = ASN1_STRING_length(name.d.iPAddress);
  if (bytes != kIpv4Bytes && bytes != kIpv6Bytes) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  const char* written =
      ::inet_ntop(bytes == kIpv6Bytes ? AF_INET6 : AF_INET, ASN1_STRING_get0_data(name.d.iPAddress),
                  text.data(), text.size());
  return written == nullptr ? "" : written;
}

}  // namespace

KeyedCertificate MakeAuthority(const CertificateLife& life) {
  const KeyPointer key = MakeKey();
  const CertificatePointer made =
      MakeUnsigned("Ringside authority " + RandomHex(kNameBytes), key.get(), life);
  AddExtension(made.get(), made.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  AddExtension(made.get(), made.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
  AddExtension(made.get(), made.get(), NID_subject_key_identifier, "hash");
  Sign(made.get(), made.get(), key.get());
  return ToPem(made.get(), key.get());
}

KeyedCertificate MakeHostCertificate(const KeyedCertificate& authority,
                                     const std::vector<std::string>& hosts,
                                     const CertificateLife& life) {
  const std::string names = AlternativeNames(hosts);
  const auto issuers = ParseCertificates(authority.certificate, "the authority's certificate");
  X509* const issuer = issuers.front().get();
  const KeyPointer issuer_key = ParseKey(authority.key, "the authority's key");
  if (X509_check_private_key(issuer, issuer_key.get()) != 1) {
    ERR_clear_error();
    throw ConfigError("the authority's key does not belong to its certificate");
  }
  const KeyPointer key = MakeKey();
  const std::string name = ("Ringside " + hosts.front()).substr(0, kMostNameBytes);
  const CertificatePointer made = MakeUnsigned(name, key.get(), life);
  AddExtension(made.get(), issuer, NID_basic_constraints, "critical,CA:FALSE");
  AddExtension(made.get(), issuer, NID_key_usage, "critical,digitalSignature");
  AddExtension(made.get(), issuer, NID_ext_key_usage, "serverAuth,clientAuth");
  AddExtension(made.get(), issuer, NID_subject_key_identifier, "hash");
  AddExtension(made.get(), issuer, NID_authority_key_identifier, "keyid");
  AddExtension(made.get(), issuer, NID_subject_alt_name, names);
  Sign(made.get(), issuer, issuer_key.get());
  return ToPem(made.get(), key.get());
}

std::vector<std::string> HostsOf(const std::string& certificate, const std::string& path) {
  const auto chain = ParseCertificates(certificate, path);
  const NamesPointer names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(chain.front().get(), NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> hosts;
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    std::string host = HostText(*sk_GENERAL_NAME_value(names.get(), i));
    if (!host.empty()) hosts.push_back(std::move(host));
  }
  return hosts;
}

}  // namespace ringside
