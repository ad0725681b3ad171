#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_NETWORK_NETWORK_ADDRESS_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_NETWORK_NETWORK_ADDRESS_H_

#include <string>

namespace ringside {

/// Whether `address` is a loopback address of this machine. Throws `ConfigError` when it is not an
/// IP address.
bool IsLoopback(const std::string& address);

/// The first IP address of a host name; an IP address stays as it is. Throws `ConfigError` naming
/// the host.
std::string ResolveHost(const std::string& host);

/// The address that this machine uses towards `destination`, an IP address. Sends nothing. Throws
/// `ConfigError` when there is no route.
std::string SourceAddressTowards(const std::string& destination);

/// A name that is unique to this host in a job: `address`, or the machine's name on loopback.
std::string HostName(const std::string& address);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_NETWORK_NETWORK_ADDRESS_H_
