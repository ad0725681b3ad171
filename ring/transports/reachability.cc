#include "ringside/ring/transports/reachability.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <utility>

#include "ringside/common/base/file_descriptor.h"
#include "ringside/common/sockets/tcp_socket.h"

namespace ringside {
namespace {

struct Attempt {
  int index = 0;
  FileDescriptor socket;
};

/// Whether this error says that the other host, or the way to it, is not there.
bool IsSilence(int error) {
  return error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH || error == ENETDOWN;
}

/// Waits until one of them has ended, or the deadline. Removes those that have ended, and adds to
/// `unreachable`.
void TakeEnds(std::vector<Attempt>& attempts, std::vector<int>& unreachable,
              const Deadline& deadline) {
  std::vector<pollfd> entries;
  for (const Attempt& attempt : attempts) {
    entries.push_back({.fd = attempt.socket.get(), .events = POLLOUT, .revents = 0});
  }
  // Rounded up, because the rest of a millisecond is no time for poll. If it fails, none has ended.
  static_cast<void>(
      poll(entries.data(), entries.size(), static_cast<int>(deadline.remaining().count()) + 1));
  std::vector<Attempt> pending;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    if (entries[i].revents == 0) {
      pending.push_back(std::move(attempts[i]));
    } else if (IsSilence(ConnectErrorOf(attempts[i].socket.get()))) {
      unreachable.push_back(attempts[i].index);
    }
  }
  attempts = std::move(pending);
}

/// "10.0.0.1" or "::1"; empty: it has another kind of address.
std::string AddressText(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* host = nullptr;
  if (address.sa_family == AF_INET) host = &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  if (address.sa_family == AF_INET6) {
    host = &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  }
  const bool known =
      host != nullptr && inet_ntop(address.sa_family, host, text.data(), text.size()) != nullptr;
  return known ? text.data() : "";
}

/// The address of "10.0.0.1:4711" or "[::1]:4711".
std::string HostOf(const std::string& endpoint) {
  const std::string host = endpoint.substr(0, endpoint.rfind(':'));
  return host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
}

}  // namespace

std::vector<int> UnreachableEndpoints(std::span<const std::string> endpoints, int own,
                                      const Deadline& deadline) {
  std::vector<int> unreachable;
  std::vector<Attempt> attempts;
  for (int index = 0; index < static_cast<int>(endpoints.size()); ++index) {
    if (index == own) continue;
    int error = 0;
    FileDescriptor socket = BeginConnectTcp(endpoints[static_cast<std::size_t>(index)], error);
    if (IsSilence(error)) unreachable.push_back(index);
    if (error == 0) attempts.push_back({index, std::move(socket)});
  }
  while (!attempts.empty()) {
    TakeEnds(attempts, unreachable, deadline);
    // Not before: on a busy machine beginning may take all the time, and answers have come then.
    if (deadline.expired()) break;
  }
  for (const Attempt& attempt : attempts) unreachable.push_back(attempt.index);
  std::ranges::sort(unreachable);
  return unreachable;
}

bool LinkIsDown(const std::string& endpoint) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return false;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(all, freeifaddrs);
  for (const ifaddrs* link = all; link != nullptr; link = link->ifa_next) {
    if (link->ifa_addr == nullptr) continue;
    const std::string address = AddressText(*link->ifa_addr);
    if (address.empty() || HostOf(endpoint) != address) continue;
    return (link->ifa_flags & IFF_UP) == 0 || (link->ifa_flags & IFF_RUNNING) == 0;
  }
  return false;
}

}  // namespace ringside
