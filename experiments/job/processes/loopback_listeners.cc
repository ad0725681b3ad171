// A library that mpirun preloads in a job of one machine. OpenMPI 4.1 listens on all addresses,
// and no setting of it changes that. Here a socket that is bound to all addresses is bound to
// loopback.
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace {

using Bind = int (*)(int, const sockaddr*, socklen_t);

template <typename Address>
int BindCopy(Bind real, int socket, const Address& address) {
  return real(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
}

/// Where loopback has no address of IPv6: all addresses, but of the loopback device alone.
int BindToLoopbackDevice(Bind real, int socket, const sockaddr* address, socklen_t length) {
  constexpr char kDevice[] = "lo";
  if (setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, kDevice, sizeof(kDevice)) != 0) return -1;
  return real(socket, address, length);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the C library's name
extern "C" int bind(int socket, const sockaddr* address, socklen_t length) {
  const auto real = reinterpret_cast<Bind>(dlsym(RTLD_NEXT, "bind"));
  if (real == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  if (address != nullptr && length >= sizeof(sockaddr_in) && address->sa_family == AF_INET) {
    sockaddr_in own{};
    std::memcpy(&own, address, sizeof(own));
    if (own.sin_addr.s_addr == htonl(INADDR_ANY)) own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return BindCopy(real, socket, own);
  }
  if (address != nullptr && length >= sizeof(sockaddr_in6) && address->sa_family == AF_INET6) {
    sockaddr_in6 own{};
    std::memcpy(&own, address, sizeof(own));
    const bool all = IN6_IS_ADDR_UNSPECIFIED(&own.sin6_addr);
    if (all) own.sin6_addr = in6addr_loopback;
    const int bound = BindCopy(real, socket, own);
    if (!all || bound == 0 || errno != EADDRNOTAVAIL) return bound;
    return BindToLoopbackDevice(real, socket, address, length);
  }
  return real(socket, address, length);
}
