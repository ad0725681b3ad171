// The handshake runs on OpenSSL's buffers in memory. So this file sends and receives itself, with a
// deadline, and a connection that the peer has closed raises no signal.
#include "ringside/paramserver/transports/tls/tls_probe.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/common/security/certificate_flaw.h"
#include "ringside/common/sockets/tcp_socket.h"

namespace ringside {
namespace {

/// For so long a peer that closes connections may be reading new files.
constexpr std::chrono::seconds kSettles{4};
constexpr std::chrono::milliseconds kRetryAfter{100};
/// The protocol that gRPC's servers ask for: its length, then its name.
constexpr std::array<unsigned char, 3> kHttp2{2, 'h', '2'};

struct ContextDelete {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
struct ConnectionDelete {
  void operator()(SSL* connection) const { SSL_free(connection); }
};

/// "10.0.0.2" of "10.0.0.2:4711", "::1" of "[::1]:4711".
std::string HostOf(const std::string& endpoint) {
  const std::string host = endpoint.substr(0, endpoint.rfind(':'));
  return host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
}

std::string ReasonText(unsigned long code) {
  const char* text = ERR_reason_error_string(code);
  return text == nullptr ? "no reason is known" : text;
}

/// The client's side of one handshake. Used once.
class Handshake {
 public:
  /// Borrows the connected socket. Throws `ConfigError` when the files cannot be used.
  Handshake(const TlsFiles& files, const std::string& host, int file, const Deadline& deadline);

  /// True: each side accepts the other.
  bool Run();
  /// Why one side refuses the other. Empty: the connection was closed, or it was too late.
  const std::string& refusal() const { return refusal_; }

 private:
  static int Verify(X509_STORE_CTX* chain, void* self) noexcept;
  void NameHost(const std::string& host);
  template <typename Step>
  bool Drive(const Step& step);
  void KeepReason();
  bool Flush();
  bool Feed();

  const int file_;
  const Deadline deadline_;
  std::unique_ptr<SSL_CTX, ContextDelete> context_;
  std::unique_ptr<SSL, ConnectionDelete> ssl_;
  BIO* received_ = nullptr;  // owned by ssl_, as the next one
  BIO* to_send_ = nullptr;
  std::string refusal_;
};

Handshake::Handshake(const TlsFiles& files, const std::string& host, int file,
                     const Deadline& deadline)
    : file_(file), deadline_(deadline), context_(SSL_CTX_new(TLS_client_method())) {
  ERR_clear_error();
  if (context_ == nullptr || SSL_CTX_load_verify_file(context_.get(), files.ca.c_str()) != 1 ||
      SSL_CTX_use_certificate_chain_file(context_.get(), files.certificate.c_str()) != 1 ||
      SSL_CTX_use_PrivateKey_file(context_.get(), files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    throw ConfigError(files.directory + ": " + ReasonText(ERR_get_error()));
  }
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(context_.get(), Verify, this);
  ssl_.reset(SSL_new(context_.get()));
  received_ = BIO_new(BIO_s_mem());
  to_send_ = BIO_new(BIO_s_mem());
  if (ssl_ == nullptr || received_ == nullptr || to_send_ == nullptr) {
    throw InternalError("OpenSSL has no memory");
  }
  SSL_set_bio(ssl_.get(), received_, to_send_);
  NameHost(host);
}

void Handshake::NameHost(const std::string& host) {
  X509_VERIFY_PARAM* const wanted = SSL_get0_param(ssl_.get());
  X509_VERIFY_PARAM_set_flags(wanted, X509_V_FLAG_PARTIAL_CHAIN);  // as gRPC does
  const bool named = X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) == 1 ||
                     X509_VERIFY_PARAM_set1_host(wanted, host.c_str(), 0) == 1;
  // This function returns 0 when it has succeeded.
  if (!named || SSL_set_alpn_protos(ssl_.get(), kHttp2.data(), kHttp2.size()) != 0) {
    throw InternalError("OpenSSL takes no host '" + host + "'");
  }
}

int Handshake::Verify(X509_STORE_CTX* chain, void* self) noexcept {
  if (X509_verify_cert(chain) == 1) return 1;
  static_cast<Handshake*>(self)->refusal_ = CertificateFlaw(*chain);
  return 0;
}

bool Handshake::Run() {
  if (!Drive([this] { return SSL_connect(ssl_.get()); })) return false;
  // The server may look at our certificate only now. A server of gRPC that accepts it says which
  // settings it has.
  std::byte first{};
  return Drive([&] { return SSL_read(ssl_.get(), &first, 1); });
}

template <typename Step>
bool Handshake::Drive(const Step& step) {
  while (true) {
    ERR_clear_error();
    const int result = step();
    const int error = SSL_get_error(ssl_.get(), result);
    if (error == SSL_ERROR_SSL) KeepReason();
    // Also when it has failed: then this tells the server why.
    if (!Flush()) return false;
    if (result > 0) return true;
    if (error != SSL_ERROR_WANT_READ || !Feed()) return false;
  }
}

void Handshake::KeepReason() {
  const unsigned long code = ERR_get_error();
  if (!refusal_.empty()) return;  // `Verify` knows better
  const bool told = ERR_GET_REASON(code) >= SSL_AD_REASON_OFFSET;
  refusal_ = (told ? "it refuses the certificate of this process: "
                   : "it does not speak TLS as it should: ") +
             ReasonText(code);
}

bool Handshake::Flush() {
  std::array<std::byte, 4096> bytes;
  while (BIO_ctrl_pending(to_send_) > 0) {
    const int count = BIO_read(to_send_, bytes.data(), static_cast<int>(bytes.size()));
    if (count <= 0) return false;
    const auto part = std::span(bytes).first(static_cast<std::size_t>(count));
    if (!SendAll(file_, part, deadline_)) return false;
  }
  return true;
}

bool Handshake::Feed() {
  std::array<std::byte, 4096> bytes;
  while (!deadline_.expired()) {
    pollfd entry{.fd = file_, .events = POLLIN, .revents = 0};
    const int ready = poll(&entry, 1, static_cast<int>(deadline_.remaining().count()) + 1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t count = recv(file_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return false;
    return BIO_write(received_, bytes.data(), static_cast<int>(count)) == count;
  }
  return false;
}

/// False: the peer closed the connection without a cause.
bool TryHandshake(const std::string& peer, const std::string& endpoint, const TlsFiles& files,
                  const Deadline& deadline) {
  const FileDescriptor socket(ConnectTcp(endpoint, deadline));
  Handshake handshake(files, HostOf(endpoint), socket.get(), deadline);
  if (handshake.Run()) return true;
  if (!handshake.refusal().empty()) throw CertificateError(peer, handshake.refusal());
  return false;
}

}  // namespace

void CheckTlsPeer(const std::string& peer, const std::string& endpoint, const TlsFiles& files,
                  const Deadline& deadline) {
  CheckTlsFiles(files);
  std::optional<Deadline> settled;  // begins when the peer is there
  while (!TryHandshake(peer, endpoint, files, deadline)) {
    if (!settled) settled = Deadline::After(kSettles);
    if (deadline.expired()) throw CommError(peer, "TLS handshake", "it did not answer in time");
    if (settled->expired()) {
      throw CommError(peer, "TLS handshake",
                      "it has closed the connection: either it does not trust the certificate of "
                      "this process (ca.pem), or it serves without TLS, or it is stopping");
    }
    poll(nullptr, 0, static_cast<int>(std::min(kRetryAfter, deadline.remaining()).count()));
  }
}

}  // namespace ringside
