#include "ringside/common/sockets/tcp_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

constexpr std::chrono::milliseconds kRetryAfter{20};

// Of the run's clock.
constexpr std::chrono::seconds kIdleBeforeProbe{10};
constexpr std::chrono::seconds kBetweenProbes{5};
constexpr int kProbes = 6;
constexpr std::chrono::seconds kLongestKeepAlive{32'767};  // of Linux

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

AddressList Parse(const std::string& endpoint) {
  const std::size_t colon = endpoint.rfind(':');
  std::string host = endpoint.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = colon == std::string::npos ? "" : endpoint.substr(colon + 1);
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) found = nullptr;
  return {found, freeaddrinfo};
}

[[noreturn]] void Throw(const std::string& peer, const char* operation) {
  throw CommError(peer, operation, std::strerror(errno));
}

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t bytes = sizeof(storage);

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

/// "127.0.0.1" or "::1"; empty: another family.
std::string HostText(const SocketAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = address.storage.ss_family;
  const void* host = nullptr;
  if (family == AF_INET) host = &reinterpret_cast<const sockaddr_in&>(address.storage).sin_addr;
  if (family == AF_INET6) host = &reinterpret_cast<const sockaddr_in6&>(address.storage).sin6_addr;
  if (host == nullptr || inet_ntop(family, host, text.data(), text.size()) == nullptr) return "";
  return text.data();
}

// The port is at the same place in both families.
std::string EndpointText(const SocketAddress& address) {
  return Endpoint(HostText(address),
                  ntohs(reinterpret_cast<const sockaddr_in&>(address.storage).sin_port));
}

/// Waits until the socket is ready. False at the deadline.
bool AwaitReady(int file, short events, const Deadline& deadline) {
  while (!deadline.expired()) {
    pollfd entry{.fd = file, .events = events, .revents = 0};
    // Rounded up, because the rest of a millisecond is no time for poll.
    const int ready = poll(&entry, 1, static_cast<int>(deadline.remaining().count()) + 1);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
  return false;
}

bool Later() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

/// Returns 0 or an errno value, by the deadline.
int Connect(int file, const addrinfo& address, const Deadline& deadline) {
  if (connect(file, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!AwaitReady(file, POLLOUT, deadline)) return ETIMEDOUT;
  return ConnectErrorOf(file);
}

}  // namespace

std::string Endpoint(const std::string& address, int port) {
  const bool v6 = address.find(':') != std::string::npos;
  return (v6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

int ConnectTcp(const std::string& endpoint, const Deadline& deadline, IfRefused if_refused) {
  const AddressList address = Parse(endpoint);
  if (address == nullptr) throw CommError(endpoint, "connecting", "it is no address");
  while (true) {
    const int file =
        socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
    if (file < 0) throw CommError(kThisProcess, "connecting to " + endpoint, std::strerror(errno));
    const int error = Connect(file, *address, deadline);
    if (error == 0) {
      SetNoDelay(file);
      SetKeepAlive(file);
      return file;
    }
    close(file);
    const bool again = error == ECONNREFUSED && if_refused == IfRefused::kTryAgain;
    if (!again || deadline.expired()) {
      throw CommError(endpoint, "connecting", std::strerror(error));
    }
    poll(nullptr, 0, static_cast<int>(std::min(kRetryAfter, deadline.remaining()).count()));
  }
}

FileDescriptor BeginConnectTcp(const std::string& endpoint, int& error) {
  const AddressList address = Parse(endpoint);
  error = EINVAL;
  if (address == nullptr) return {};
  FileDescriptor file(
      socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  const bool begun =
      file.get() >= 0 &&
      (connect(file.get(), address->ai_addr, address->ai_addrlen) == 0 || errno == EINPROGRESS);
  error = begun ? 0 : errno;
  return begun ? std::move(file) : FileDescriptor();
}

int ConnectErrorOf(int file) {
  int error = 0;
  socklen_t bytes = sizeof(error);
  return getsockopt(file, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 ? error : errno;
}

FileDescriptor ListenOnTcp(const std::string& address, int port) {
  const AddressList found = Parse(Endpoint(address, port));
  if (found == nullptr) throw CommError(address, "listening", "it is no IP address");
  FileDescriptor file(
      socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  // Connections of an earlier listener may still close. Another listener keeps the port all the
  // same.
  const int reuse = port != 0 ? 1 : 0;
  if (file.get() < 0 ||
      setsockopt(file.get(), SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse)) != 0 ||
      bind(file.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      listen(file.get(), SOMAXCONN) != 0) {
    Throw(address, "listening");
  }
  return file;
}

std::string TcpEndpointOf(int file) {
  SocketAddress own;
  if (getsockname(file, own.get(), &own.bytes) != 0) Throw("a socket", "asking for its address");
  return EndpointText(own);
}

bool IsWithinHost(int file) {
  SocketAddress own, peer;
  return getsockname(file, own.get(), &own.bytes) == 0 &&
         getpeername(file, peer.get(), &peer.bytes) == 0 && HostText(own) == HostText(peer);
}

void SetNoDelay(int file) {
  const int on = 1;
  // It cannot fail on a TCP socket. Other sockets do not delay anything.
  static_cast<void>(setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)));
}

void SetKeepAlive(int file) {
  const auto seconds = [](std::chrono::seconds time) {
    return static_cast<int>(std::min(DilatedClock::ToMachine(time), kLongestKeepAlive).count());
  };
  const int on = 1;
  const int idle = seconds(kIdleBeforeProbe);
  const int interval = seconds(kBetweenProbes);
  // These cannot fail on a TCP socket. Other sockets have no other host.
  static_cast<void>(setsockopt(file, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)));
  static_cast<void>(setsockopt(file, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle)));
  static_cast<void>(setsockopt(file, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval)));
  static_cast<void>(setsockopt(file, IPPROTO_TCP, TCP_KEEPCNT, &kProbes, sizeof(kProbes)));
}

void SetBlocking(int file) {
  const int flags = fcntl(file, F_GETFL);
  if (flags < 0 || fcntl(file, F_SETFL, flags & ~O_NONBLOCK) != 0) Throw("a socket", "opening");
}

bool SendAll(int file, std::span<const std::byte> bytes, const Deadline& deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = send(file, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (!Later() || !AwaitReady(file, POLLOUT, deadline))) return false;
    if (sent > 0) bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

bool ReceiveAll(int file, std::span<std::byte> bytes, const Deadline& deadline) {
  while (!bytes.empty()) {
    const ssize_t received = recv(file, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (received == 0) return false;
    if (received < 0 && (!Later() || !AwaitReady(file, POLLIN, deadline))) return false;
    if (received > 0) bytes = bytes.subspan(static_cast<std::size_t>(received));
  }
  return true;
}

void LimitUnsent(int file, std::size_t bytes) {
  const int unsent = static_cast<int>(bytes);
  // It fails where the socket is no TCP socket or the kernel knows no such limit. Then more bytes
  // wait in the kernel and buckets overlap less; the bytes are the same.
  static_cast<void>(setsockopt(file, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof(unsent)));
}

}  // namespace ringside
