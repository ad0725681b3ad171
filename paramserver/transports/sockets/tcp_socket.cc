#include "ringside/paramserver/transports/sockets/tcp_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

#include "ringside/common/core/errors.h"

namespace ringside {
namespace {

constexpr std::chrono::milliseconds kRetryAfter{20};

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

/// Returns 0 or an errno value, by the deadline.
int Connect(int file, const addrinfo& address, const Deadline& deadline) {
  if (connect(file, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd entry{.fd = file, .events = POLLOUT, .revents = 0};
  if (poll(&entry, 1, static_cast<int>(deadline.remaining().count())) != 1) return ETIMEDOUT;
  int error = 0;
  socklen_t bytes = sizeof(error);
  return getsockopt(file, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 ? error : errno;
}

}  // namespace

int ConnectTcp(const std::string& endpoint, const Deadline& deadline) {
  const AddressList address = Parse(endpoint);
  if (address == nullptr) throw CommError(endpoint, "connecting", "it is no address");
  while (true) {
    const int file =
        socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
    const int error = file < 0 ? errno : Connect(file, *address, deadline);
    if (error == 0) {
      const int on = 1;
      // It cannot fail on a TCP socket.
      static_cast<void>(setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)));
      return file;
    }
    if (file >= 0) close(file);
    if (error != ECONNREFUSED || deadline.expired()) {
      throw CommError(endpoint, "connecting", std::strerror(error));
    }
    poll(nullptr, 0, static_cast<int>(std::min(kRetryAfter, deadline.remaining()).count()));
  }
}

void LimitUnsent(int file, std::size_t bytes) {
  const int unsent = static_cast<int>(bytes);
  // It fails where the socket is no TCP socket or the kernel knows no such limit. Then more bytes
  // wait in the kernel and buckets overlap less; the bytes are the same.
  static_cast<void>(setsockopt(file, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof(unsent)));
}

}  // namespace ringside
