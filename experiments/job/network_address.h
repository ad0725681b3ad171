#ifndef RINGSIDE_EXPERIMENTS_JOB_NETWORK_ADDRESS_H_
#define RINGSIDE_EXPERIMENTS_JOB_NETWORK_ADDRESS_H_

#include <string>

namespace ringside {

/// Whether `address` is an IP address of this machine's loopback. Throws `ConfigError` when it is
/// no IP address.
bool IsLoopback(const std::string& address);

/// Throws `ConfigError` when `address` is not loopback and `insecure_network` is not set: data
/// connections are not encrypted.
void RefuseOpenNetwork(const std::string& address, bool insecure_network);

/// The first IP address of a host name; an IP address stays as it is. Throws `ConfigError` naming
/// the host.
std::string ResolveHost(const std::string& host);

/// The address that this machine uses towards `destination`, an IP address. Sends nothing. Throws
/// `ConfigError` when there is no route.
std::string SourceAddressTowards(const std::string& destination);

/// What tells this host from others of a job: `address`, or the machine's name on loopback.
std::string HostName(const std::string& address);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_NETWORK_ADDRESS_H_
