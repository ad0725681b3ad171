#include "ringside/experiments/system/network/network_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/file_descriptor.h"

namespace ringside {
namespace {

struct Endpoint {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

bool Parse(const std::string& address, Endpoint& endpoint) {
  auto& ipv4 = reinterpret_cast<sockaddr_in&>(endpoint.storage);
  if (::inet_pton(AF_INET, address.c_str(), &ipv4.sin_addr) == 1) {
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = htons(9);
    endpoint.length = sizeof(sockaddr_in);
    return true;
  }
  auto& ipv6 = reinterpret_cast<sockaddr_in6&>(endpoint.storage);
  if (::inet_pton(AF_INET6, address.c_str(), &ipv6.sin6_addr) == 1) {
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = htons(9);
    endpoint.length = sizeof(sockaddr_in6);
    return true;
  }
  return false;
}

Endpoint ParseOrThrow(const std::string& address) {
  Endpoint endpoint;
  if (!Parse(address, endpoint)) throw ConfigError("'" + address + "' is no IP address");
  return endpoint;
}

std::string Text(const sockaddr* address, socklen_t length) {
  std::array<char, NI_MAXHOST> text{};
  ::getnameinfo(address, length, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return text.data();
}

}  // namespace

bool IsLoopback(const std::string& address) {
  const Endpoint endpoint = ParseOrThrow(address);
  if (endpoint.storage.ss_family == AF_INET) {
    const auto& ipv4 = reinterpret_cast<const sockaddr_in&>(endpoint.storage);
    return (ntohl(ipv4.sin_addr.s_addr) >> 24) == 127;
  }
  const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(endpoint.storage);
  return IN6_IS_ADDR_LOOPBACK(&ipv6.sin6_addr);
}

std::string ResolveHost(const std::string& host) {
  Endpoint endpoint;
  if (Parse(host, endpoint)) return host;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found); error != 0) {
    throw ConfigError("cannot find the host '" + host + "': " + ::gai_strerror(error));
  }
  std::string address = Text(found->ai_addr, found->ai_addrlen);
  ::freeaddrinfo(found);
  return address;
}

std::string SourceAddressTowards(const std::string& destination) {
  Endpoint endpoint = ParseOrThrow(destination);
  const FileDescriptor fd(::socket(endpoint.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  auto* address = reinterpret_cast<sockaddr*>(&endpoint.storage);
  // Connecting a datagram socket chooses the route and sends nothing.
  if (fd.get() < 0 || ::connect(fd.get(), address, endpoint.length) != 0 ||
      ::getsockname(fd.get(), address, &endpoint.length) != 0) {
    throw ConfigError("there is no route to " + destination + ": " + std::strerror(errno));
  }
  return Text(address, endpoint.length);
}

std::string HostName(const std::string& address) {
  if (!IsLoopback(address)) return address;
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace ringside
