#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_TLS_TLS_CREDENTIALS_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_TLS_TLS_CREDENTIALS_H_

#include <memory>

#include "ringside/common/security/tls_files.h"

namespace grpc {
class ChannelCredentials;
class ServerCredentials;
}  // namespace grpc

namespace ringside {

/// gRPC's credentials under TLS. Each side shows its certificate, and ends the connection unless an
/// authority of ca.pem has signed that of the other side. A client also checks that the server's
/// certificate is for the address that it connects to.
///
/// A thread of gRPC reads the files again every second. New connections use the new ones, open
/// connections go on.
///
/// Both functions throw `ConfigError` as `CheckTlsFiles` does. They keep gRPC initialised until the
/// process ends.
std::shared_ptr<grpc::ServerCredentials> MakeTlsServerCredentials(const TlsFiles& files);
std::shared_ptr<grpc::ChannelCredentials> MakeTlsChannelCredentials(const TlsFiles& files);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_TLS_TLS_CREDENTIALS_H_
