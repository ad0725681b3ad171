#include "ringside/paramserver/transports/tls/tls_credentials.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

namespace ringside {
namespace {

namespace tls = grpc::experimental;

constexpr unsigned kSecondsBetweenReadings = 1;

/// The files must be fine when gRPC reads them first. Later it waits for files that are.
std::shared_ptr<tls::CertificateProviderInterface> Watch(const TlsFiles& files) {
  CheckTlsFiles(files);
  // The thread that reads the files may outlive all channels and servers.
  [[maybe_unused]] static const bool kept = [] {
    grpc_init();
    return true;
  }();
  return std::make_shared<tls::FileWatcherCertificateProvider>(files.key, files.certificate,
                                                               files.ca, kSecondsBetweenReadings);
}

void WatchBoth(tls::TlsCredentialsOptions& options) {
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
}

}  // namespace

std::shared_ptr<grpc::ServerCredentials> MakeTlsServerCredentials(const TlsFiles& files) {
  tls::TlsServerCredentialsOptions options(Watch(files));
  WatchBoth(options);
  options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  return tls::TlsServerCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> MakeTlsChannelCredentials(const TlsFiles& files) {
  const auto provider = Watch(files);
  tls::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(provider);
  WatchBoth(options);
  options.set_certificate_verifier(std::make_shared<tls::HostNameCertificateVerifier>());
  return tls::TlsCredentials(options);
}

}  // namespace ringside
