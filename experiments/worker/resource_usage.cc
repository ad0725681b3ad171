#include "ringside/experiments/worker/resource_usage.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <vector>

namespace ringside {
namespace {

std::string EndpointText(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.ss_family == AF_INET) {
    const auto& ipv4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &ipv4.sin_addr, text, sizeof(text));
    return fmt::format("{}:{}", text, ntohs(ipv4.sin_port));
  }
  const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(address);
  if (IN6_IS_ADDR_V4MAPPED(&ipv6.sin6_addr)) {
    ::inet_ntop(AF_INET, &ipv6.sin6_addr.s6_addr[12], text, sizeof(text));
    return fmt::format("{}:{}", text, ntohs(ipv6.sin6_port));
  }
  ::inet_ntop(AF_INET6, &ipv6.sin6_addr, text, sizeof(text));
  return fmt::format("[{}]:{}", text, ntohs(ipv6.sin6_port));
}

struct Connection {
  std::string local;
  std::string peer;
  SocketBytes bytes;
};

/// Returns false when `fd` is not a connected TCP socket.
bool ReadConnection(int fd, Connection& connection) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return false;
  if (address.ss_family != AF_INET && address.ss_family != AF_INET6) return false;
  connection.peer = EndpointText(address);
  length = sizeof(address);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return false;
  connection.local = EndpointText(address);
  tcp_info info{};
  length = sizeof(info);
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return false;
  connection.bytes = {info.tcpi_bytes_sent - info.tcpi_bytes_retrans, info.tcpi_bytes_received};
  return true;
}

std::vector<Connection> OpenConnections() {
  std::vector<Connection> connections;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const std::string name = entry.path().filename();
    int fd = -1;
    std::from_chars(name.data(), name.data() + name.size(), fd);
    Connection connection;
    if (fd < 0 || !ReadConnection(fd, connection)) continue;
    // Two descriptors of one connection count once.
    const bool known = std::ranges::any_of(connections, [&](const Connection& other) {
      return other.local == connection.local && other.peer == connection.peer;
    });
    if (!known) connections.push_back(std::move(connection));
  }
  return connections;
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

double CpuSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
}

MachineTicks ReadMachineTicks() {
  constexpr std::size_t kIdle = 3;
  constexpr std::size_t kDisk = 4;
  constexpr std::size_t kColumns = 8;  // the later ones, guest times, are part of the first two
  std::ifstream stat("/proc/stat");
  std::string word;
  MachineTicks ticks;
  if (!(stat >> word) || word != "cpu") return ticks;
  std::uint64_t value = 0;
  for (std::size_t column = 0; column < kColumns && stat >> value; ++column) {
    ticks.all += value;
    if (column != kIdle && column != kDisk) ticks.busy += value;
  }
  return ticks;
}

std::int64_t PeakRssBytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != "VmHWM:") continue;
    std::int64_t kib = 0;
    status >> kib;
    return kib * 1024;
  }
  return 0;
}

SocketBytes OpenSocketBytes(const std::string& except) {
  const std::vector<Connection> connections = OpenConnections();
  std::set<std::string> own;
  for (const Connection& connection : connections) own.insert(connection.local);
  SocketBytes sum;
  for (const Connection& connection : connections) {
    if (connection.peer == except || own.contains(connection.peer)) continue;
    sum.sent += connection.bytes.sent;
    sum.received += connection.bytes.received;
  }
  return sum;
}

}  // namespace ringside
