// A library to preload: the TCP connections on loopback of a program go to the fault proxy
// (suite/proxy.py).
//
// The variable RINGSIDE_FAULT_PROXY names the proxy's Unix socket. Before a connection is made,
// this library tells the proxy there who connects, from which port and to which port. The proxy
// answers with the port to connect to instead.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using Connect = int (*)(int, const sockaddr*, socklen_t);

Connect RealConnect() {
  static const auto real = reinterpret_cast<Connect>(dlsym(RTLD_NEXT, "connect"));
  return real;
}

/// The port of an address on loopback, IPv4 or IPv4 within IPv6; 0: another address.
in_port_t LoopbackPort(const sockaddr* address, socklen_t size) {
  if (address == nullptr) return 0;
  if (address->sa_family == AF_INET && size >= sizeof(sockaddr_in)) {
    sockaddr_in in{};
    std::memcpy(&in, address, sizeof(in));
    return (ntohl(in.sin_addr.s_addr) >> 24U) == 127 ? ntohs(in.sin_port) : 0;
  }
  if (address->sa_family == AF_INET6 && size >= sizeof(sockaddr_in6)) {
    sockaddr_in6 in{};
    std::memcpy(&in, address, sizeof(in));
    const bool loopback = IN6_IS_ADDR_V4MAPPED(&in.sin6_addr) && in.sin6_addr.s6_addr[12] == 127;
    return loopback ? ntohs(in.sin6_port) : 0;
  }
  return 0;
}

bool IsStream(int file) {
  int type = 0;
  socklen_t size = sizeof(type);
  return getsockopt(file, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

/// An address of the same family as `like`.
socklen_t MakeLoopback(const sockaddr* like, in_port_t port, sockaddr_storage& out) {
  out = {};
  if (like->sa_family == AF_INET) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    in.sin_port = htons(port);
    std::memcpy(&out, &in, sizeof(in));
    return sizeof(in);
  }
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(port);
  inet_pton(AF_INET6, "::ffff:127.0.0.1", &in.sin6_addr);
  std::memcpy(&out, &in, sizeof(in));
  return sizeof(in);
}

in_port_t OwnPort(int file) {
  sockaddr_storage own{};
  socklen_t size = sizeof(own);
  if (getsockname(file, reinterpret_cast<sockaddr*>(&own), &size) != 0) return 0;
  sockaddr_in in{};  // the port is at the same place in both families
  std::memcpy(&in, &own, sizeof(in));
  return ntohs(in.sin_port);
}

/// The port of the proxy for a connection between these ports; 0: there is no proxy.
in_port_t AskProxy(const char* path, in_port_t from, in_port_t to) {
  const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file < 0) return 0;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
  std::array<char, 64> text{};
  unsigned port = 0;
  if (RealConnect()(file, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    const int length = std::snprintf(text.data(), text.size(), "%d %u %u\n", getpid(), from, to);
    if (write(file, text.data(), static_cast<std::size_t>(length)) == length) {
      text.fill(0);
      // The proxy's answer is one short line, which comes in one piece over a Unix socket.
      if (read(file, text.data(), text.size() - 1) > 0)
        port = std::strtoul(text.data(), nullptr, 10);
    }
  }
  close(file);
  return static_cast<in_port_t>(port);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the C library's name
extern "C" int connect(int file, const sockaddr* address, socklen_t size) {
  const char* proxy = std::getenv("RINGSIDE_FAULT_PROXY");
  const in_port_t to = proxy == nullptr ? 0 : LoopbackPort(address, size);
  if (to == 0 || !IsStream(file)) return RealConnect()(file, address, size);
  sockaddr_storage other{};
  if (OwnPort(file) == 0) {
    // So that the proxy can tell whose connection it accepts.
    const socklen_t own_size = MakeLoopback(address, 0, other);
    if (bind(file, reinterpret_cast<const sockaddr*>(&other), own_size) != 0) return -1;
  }
  const in_port_t instead = AskProxy(proxy, OwnPort(file), to);
  if (instead == 0) {
    errno = ECONNREFUSED;
    return -1;
  }
  const socklen_t other_size = MakeLoopback(address, instead, other);
  return RealConnect()(file, reinterpret_cast<const sockaddr*>(&other), other_size);
}
