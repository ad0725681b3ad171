#include "ringside/experiments/system/network/tcp_connections.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

constexpr time_t kAnswerTimeoutSeconds = 5;
// The kernel's advice for the buffer of a dump is at least 8 KiB.
constexpr std::size_t kAnswerBytes = 32 << 10;

[[noreturn]] void Fail(int error) {
  const bool lacks_module =
      error == ENOENT || error == EPROTONOSUPPORT || error == EOPNOTSUPP || error == EINVAL;
  throw MissingBackendError(
      std::string("the TCP connections of a network namespace cannot be listed: ") +
      std::strerror(error) +
      (lacks_module ? " (the kernel needs tcp_diag: modprobe tcp_diag)" : ""));
}

struct Question {
  nlmsghdr header{};
  inet_diag_req_v2 request{};
};

constexpr std::uint8_t Extension(int number) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(number - 1));
}

void Ask(int fd, int family) {
  Question question;
  question.header.nlmsg_len = sizeof(question);
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  question.request.sdiag_family = static_cast<__u8>(family);
  question.request.sdiag_protocol = IPPROTO_TCP;
  question.request.idiag_states = 1U << static_cast<unsigned>(TCP_ESTABLISHED);
  question.request.idiag_ext = Extension(INET_DIAG_CONG) | Extension(INET_DIAG_INFO);
  if (::send(fd, &question, sizeof(question), 0) < 0) Fail(errno);
}

std::string AddressText(int family, const __be32* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  // With these families and sizes, inet_ntop cannot fail.
  if (family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(reinterpret_cast<const in6_addr*>(address))) {
    ::inet_ntop(AF_INET, address + 3, text.data(), text.size());
  } else {
    ::inet_ntop(family, address, text.data(), text.size());
  }
  return text.data();
}

void TakeAttribute(const rtattr& attribute, std::span<const std::byte> value,
                   TcpConnectionEnd& connection) {
  if (attribute.rta_type == INET_DIAG_CONG) {
    const auto* name = reinterpret_cast<const char*>(value.data());
    connection.congestion_control.assign(name, ::strnlen(name, value.size()));
  } else if (attribute.rta_type == INET_DIAG_INFO) {
    tcp_info info{};  // An older kernel knows fewer fields, a newer one more.
    std::memcpy(&info, value.data(), std::min(value.size(), sizeof(info)));
    connection.retransmitted_segments = info.tcpi_total_retrans;
  }
}

TcpConnectionEnd Read(std::span<const std::byte> payload) {
  inet_diag_msg message{};
  if (payload.size() < sizeof(message)) Fail(EBADMSG);
  std::memcpy(&message, payload.data(), sizeof(message));
  TcpConnectionEnd connection{
      .local_address = AddressText(message.idiag_family, message.id.idiag_src),
      .remote_address = AddressText(message.idiag_family, message.id.idiag_dst),
      .local_port = ntohs(message.id.idiag_sport),
      .remote_port = ntohs(message.id.idiag_dport),
      .congestion_control{}};
  std::span<const std::byte> rest = payload.subspan(sizeof(message));
  while (rest.size() >= sizeof(rtattr)) {
    rtattr attribute{};
    std::memcpy(&attribute, rest.data(), sizeof(attribute));
    if (attribute.rta_len < sizeof(attribute) || attribute.rta_len > rest.size()) Fail(EBADMSG);
    TakeAttribute(attribute, rest.subspan(sizeof(attribute), attribute.rta_len - sizeof(attribute)),
                  connection);
    rest = rest.subspan(std::min<std::size_t>(RTA_ALIGN(attribute.rta_len), rest.size()));
  }
  return connection;
}

int ErrorOf(std::span<const std::byte> payload) {
  int error = 0;
  if (payload.size() < sizeof(error)) Fail(EBADMSG);
  std::memcpy(&error, payload.data(), sizeof(error));
  return error;
}

/// Takes the messages of one datagram. Returns whether the last one of the dump is among them.
bool TakeDatagram(std::span<const std::byte> rest, std::vector<TcpConnectionEnd>& found) {
  while (rest.size() >= sizeof(nlmsghdr)) {
    nlmsghdr header{};
    std::memcpy(&header, rest.data(), sizeof(header));
    if (header.nlmsg_len < sizeof(header) || header.nlmsg_len > rest.size()) Fail(EBADMSG);
    const auto payload = rest.subspan(sizeof(header), header.nlmsg_len - sizeof(header));
    if (header.nlmsg_type == NLMSG_DONE || header.nlmsg_type == NLMSG_ERROR) {
      // A dump that fails half-way says so in its last message.
      if (const int error = ErrorOf(payload); error < 0) Fail(-error);
      return true;
    }
    if (header.nlmsg_type == SOCK_DIAG_BY_FAMILY) found.push_back(Read(payload));
    rest = rest.subspan(std::min<std::size_t>(NLMSG_ALIGN(header.nlmsg_len), rest.size()));
  }
  return false;
}

void TakeAnswer(int fd, std::vector<TcpConnectionEnd>& found) {
  alignas(nlmsghdr) std::array<std::byte, kAnswerBytes> buffer;
  while (true) {
    const ssize_t count = ::recv(fd, buffer.data(), buffer.size(), MSG_TRUNC);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) Fail(errno);
    // MSG_TRUNC returns the whole size of a datagram that did not fit.
    if (static_cast<std::size_t>(count) > buffer.size()) Fail(EMSGSIZE);
    if (TakeDatagram({buffer.data(), static_cast<std::size_t>(count)}, found)) return;
  }
}

}  // namespace

TcpConnections::TcpConnections(const NetNamespace& where) {
  const NamespaceScope inside(where.fd());
  // The socket stays in this namespace, whichever thread uses it.
  socket_ = FileDescriptor(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (socket_.get() < 0) Fail(errno);
  const timeval patience{.tv_sec = kAnswerTimeoutSeconds, .tv_usec = 0};
  if (::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0) {
    Fail(errno);
  }
}

std::vector<TcpConnectionEnd> TcpConnections::List() const {
  std::vector<TcpConnectionEnd> found;
  for (const int family : {AF_INET, AF_INET6}) {
    Ask(socket_.get(), family);
    TakeAnswer(socket_.get(), found);
  }
  return found;
}

}  // namespace ringside
