#include "ringside/experiments/job/launcher/network_protection.h"

#include <fmt/format.h>

#include "ringside/common/base/errors.h"
#include "ringside/common/security/tls_files.h"
#include "ringside/experiments/spec/transport.h"
#include "ringside/experiments/system/network/network_address.h"

namespace ringside {
namespace {

/// The transport that carries the strategy's bytes between hosts without encryption. Empty: none
/// does.
std::string PlainTransport(const RunSpec& spec) {
  constexpr int kHosts = 2;  // any number that makes a strategy use its links between hosts
  if (OneHostNeedOf(spec)) return {};
  const TransportUse use = TransportOf(spec, kHosts);
  return use.takes_tls ? std::string() : use.name;
}

}  // namespace

void RequireProtectedNetwork(const RunSpec& spec, const JobOptions& options,
                             const std::string& address) {
  if (!options.tls.empty()) CheckTlsFiles(TlsFiles(options.tls));
  RequireEncryption(spec, options, address);
}

void RequireEncryption(const RunSpec& spec, const JobOptions& options, const std::string& address) {
  if (options.insecure_network || IsLoopback(address)) return;
  if (options.tls.empty()) {
    throw ConfigError(fmt::format(
        "address {} is not loopback, and connections between processes are not encrypted: give "
        "--tls DIR ('ringside certificates make DIR' makes the files), or --insecure-network if "
        "everybody on that network may read and change them",
        address));
  }
  const std::string plain = PlainTransport(spec);
  if (plain.empty()) return;
  throw ConfigError(fmt::format(
      "address {} is not loopback, and strategy '{}' sends its data over {}, which --tls does not "
      "encrypt: take parameter servers with --ps-transport grpc, or give --insecure-network too if "
      "everybody on that network may read and change the data",
      address, spec.strategy, plain));
}

}  // namespace ringside
