#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_TLS_TLS_PROBE_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_TLS_TLS_PROBE_H_

#include <string>

#include "ringside/common/base/deadline.h"
#include "ringside/common/security/tls_files.h"

namespace ringside {

/// Finds out, by a connection of its own, whether this process and the one at `endpoint`
/// ("10.0.0.2:4711") accept each other's certificates. gRPC tries again and again instead, and its
/// errors do not name the cause. Sends nothing but the handshake; what it finds protects nothing.
///
/// Throws `ConfigError` when the files cannot be used, as `CheckTlsFiles` does.
/// Throws `CertificateError` that names `peer` and the cause when one side refuses the other.
/// Throws `CommError` when nothing listens there until the deadline, or the peer closes the
/// connection without a cause. While files are replaced a peer may do so for a second, so that is
/// tried again for a while.
void CheckTlsPeer(const std::string& peer, const std::string& endpoint, const TlsFiles& files,
                  const Deadline& deadline);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_TLS_TLS_PROBE_H_
