#include "ringside/paramserver/transports/core/server_address.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>

#include "ringside/common/base/errors.h"
#include "ringside/common/security/secrets.h"
#include "ringside/paramserver/transports/core/transport_entry.h"

namespace ringside {
namespace {

constexpr std::size_t kNameBytes = 16;  // random, so that the name cannot be guessed

}  // namespace

std::string ServerAddress::ToText() const {
  const std::string text = std::string(transport->name) + " " + address;
  return host.empty() ? text : text + " " + host;
}

bool ServerAddress::IsHere() const {
  return transport->needs_one_host || address.starts_with("127.") || address.starts_with("[::1]:");
}

std::string ServerAddress::DisplayText() const {
  return transport->needs_one_host ? "over " + std::string(transport->name) : "at " + address;
}

ServerAddress LocalAddress(const TransportEntry& transport) {
  return {&transport, "ringside-" + RandomHex(kNameBytes), HostIdentity()};
}

std::string HostIdentity() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  struct stat network {};
  if (stat("/proc/self/ns/net", &network) != 0) {
    throw InternalError(std::string("/proc/self/ns/net: ") + std::strerror(errno));
  }
  return boot + "." + std::to_string(network.st_ino);
}

}  // namespace ringside
