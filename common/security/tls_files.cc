#include "ringside/common/security/tls_files.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/common/security/certificate_flaw.h"
#include "ringside/common/security/openssl_handles.h"

namespace ringside {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
constexpr mode_t kOthersMayWrite = 022;
constexpr mode_t kOthersMayDoAnything = 077;

struct StackDelete {
  void operator()(STACK_OF(X509) * stack) const { sk_X509_free(stack); }
};
/// Borrows the certificates.
using StackPointer = std::unique_ptr<STACK_OF(X509), StackDelete>;

bool IsTrusted(const struct stat& status, mode_t forbidden) {
  const bool owned = status.st_uid == ::geteuid() || status.st_uid == 0;
  return owned && (status.st_mode & forbidden) == 0;
}

std::string ReadAll(int file, const std::string& path) {
  std::string content;
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t count = ::read(file, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw ConfigError(path + ": cannot read: " + std::strerror(errno));
    if (count == 0) return content;
    if (content.size() + static_cast<std::size_t>(count) > kMaxBytes) {
      throw ConfigError(path + ": is too long to be a certificate");
    }
    content.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

/// The content of a file on which other users have none of the rights in `forbidden`.
std::string ReadTrusted(const std::string& path, mode_t forbidden) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0 && errno == ELOOP) {
    throw ConfigError(path + ": is a symbolic link; expected the file itself");
  }
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
    throw ConfigError(path + ": cannot open: " + std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) throw ConfigError(path + ": expected a file");
  if (!IsTrusted(status, forbidden)) {
    throw ConfigError(path + (forbidden == kOthersMayWrite
                                  ? ": other users can change it"
                                  : ": expected a file of this user's that nobody else can read "
                                    "(mode 0600)"));
  }
  return ReadAll(file.get(), path);
}

void CheckChain(const std::vector<CertificatePointer>& chain,
                const std::vector<CertificatePointer>& authorities, const TlsFiles& files) {
  const TrustPointer trust(X509_STORE_new());
  const StackPointer others(sk_X509_new_null());
  const VerificationPointer verification(X509_STORE_CTX_new());  // last: it uses the others
  if (trust == nullptr || verification == nullptr || others == nullptr) {
    throw InternalError("OpenSSL has no memory");
  }
  X509_STORE_set_flags(trust.get(), X509_V_FLAG_PARTIAL_CHAIN);  // as gRPC does
  for (const CertificatePointer& authority : authorities) {
    X509_STORE_add_cert(trust.get(), authority.get());
  }
  for (std::size_t i = 1; i < chain.size(); ++i) sk_X509_push(others.get(), chain[i].get());
  const bool begun =
      X509_STORE_CTX_init(verification.get(), trust.get(), chain.front().get(), others.get()) == 1;
  const bool valid = begun && X509_verify_cert(verification.get()) == 1;
  ERR_clear_error();
  if (!valid) throw ConfigError(files.certificate + ": " + CertificateFlaw(*verification));
}

}  // namespace

TlsFiles::TlsFiles(const std::string& in)
    : directory(in), ca(in + "/ca.pem"), certificate(in + "/cert.pem"), key(in + "/key.pem") {}

// Who can write there can exchange the files.
void CheckTlsDirectory(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) throw ConfigError(path + ": " + std::strerror(errno));
  if (!S_ISDIR(status.st_mode)) throw ConfigError(path + ": expected a directory");
  if (!IsTrusted(status, kOthersMayWrite)) {
    throw ConfigError(path + ": other users can change what is in this directory");
  }
}

void CheckTlsFiles(const TlsFiles& files) {
  CheckTlsDirectory(files.directory);
  const auto authorities = ParseCertificates(ReadTrusted(files.ca, kOthersMayWrite), files.ca);
  const auto chain =
      ParseCertificates(ReadTrusted(files.certificate, kOthersMayWrite), files.certificate);
  const KeyPointer key = ParseKey(ReadTrusted(files.key, kOthersMayDoAnything), files.key);
  const bool fits = X509_check_private_key(chain.front().get(), key.get()) == 1;
  ERR_clear_error();
  if (!fits) throw ConfigError(files.key + ": does not belong to " + files.certificate);
  CheckChain(chain, authorities, files);
}

std::string EndOfCertificate(const TlsFiles& files) {
  const auto chain =
      ParseCertificates(ReadTrusted(files.certificate, kOthersMayWrite), files.certificate);
  return TimeText(X509_get0_notAfter(chain.front().get()));
}

}  // namespace ringside
