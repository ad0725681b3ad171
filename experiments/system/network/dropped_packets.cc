#include "ringside/experiments/system/network/dropped_packets.h"

#include <linux/gen_stats.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/file_descriptor.h"

namespace ringside {
namespace {

using Bytes = std::span<const std::byte>;

constexpr time_t kAnswerTimeoutSeconds = 5;
constexpr std::size_t kAnswerBytes = 32 << 10;

[[noreturn]] void Fail(int error) {
  throw MissingBackendError(
      std::string("the dropped packets of a network namespace cannot be read: ") +
      std::strerror(error));
}

template <typename T>
T Copy(Bytes bytes) {
  T value{};
  if (bytes.size() < sizeof(value)) Fail(EBADMSG);
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

FileDescriptor OpenSocket(const NetNamespace& where) {
  const NamespaceScope inside(where.fd());
  FileDescriptor file(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_ROUTE));
  const timeval patience{.tv_sec = kAnswerTimeoutSeconds, .tv_usec = 0};
  if (file.get() < 0 ||
      ::setsockopt(file.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0) {
    Fail(errno);
  }
  return file;
}

void Ask(int fd) {
  struct {
    nlmsghdr header{};
    tcmsg message{};
  } question;
  question.header.nlmsg_len = sizeof(question);
  question.header.nlmsg_type = RTM_GETQDISC;
  question.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  if (::send(fd, &question, sizeof(question), 0) < 0) Fail(errno);
}

/// Calls `take` with the type and the value of each attribute.
void ForEachAttribute(Bytes rest, const std::function<void(int, Bytes)>& take) {
  while (rest.size() >= sizeof(rtattr)) {
    const auto attribute = Copy<rtattr>(rest);
    if (attribute.rta_len < sizeof(attribute) || attribute.rta_len > rest.size()) Fail(EBADMSG);
    take(attribute.rta_type & NLA_TYPE_MASK,
         rest.subspan(sizeof(attribute), attribute.rta_len - sizeof(attribute)));
    rest = rest.subspan(std::min<std::size_t>(RTA_ALIGN(attribute.rta_len), rest.size()));
  }
}

/// What one discipline dropped; 0 when it is inside another one.
std::uint64_t DropsOf(Bytes payload) {
  const auto message = Copy<tcmsg>(payload);
  if (message.tcm_parent != TC_H_ROOT) return 0;
  std::optional<std::uint64_t> drops;
  ForEachAttribute(payload.subspan(NLMSG_ALIGN(sizeof(message))), [&](int type, Bytes value) {
    if (type != TCA_STATS2) return;
    ForEachAttribute(value, [&](int part, Bytes queue) {
      if (part == TCA_STATS_QUEUE) drops = Copy<gnet_stats_queue>(queue).drops;
    });
  });
  if (!drops) Fail(ENODATA);
  return *drops;
}

/// Adds the drops of one datagram. Returns whether the last message of the dump is in it.
bool TakeDatagram(Bytes rest, std::uint64_t& sum) {
  while (rest.size() >= sizeof(nlmsghdr)) {
    const auto header = Copy<nlmsghdr>(rest);
    if (header.nlmsg_len < sizeof(header) || header.nlmsg_len > rest.size()) Fail(EBADMSG);
    const Bytes payload = rest.subspan(sizeof(header), header.nlmsg_len - sizeof(header));
    if (header.nlmsg_type == NLMSG_DONE || header.nlmsg_type == NLMSG_ERROR) {
      if (const int error = Copy<int>(payload); error < 0) Fail(-error);
      return true;
    }
    if (header.nlmsg_type == RTM_NEWQDISC) sum += DropsOf(payload);
    rest = rest.subspan(std::min<std::size_t>(NLMSG_ALIGN(header.nlmsg_len), rest.size()));
  }
  return false;
}

}  // namespace

std::uint64_t DroppedPackets(const NetNamespace& where) {
  const FileDescriptor file = OpenSocket(where);
  Ask(file.get());
  std::uint64_t sum = 0;
  alignas(nlmsghdr) std::array<std::byte, kAnswerBytes> buffer;
  while (true) {
    const ssize_t count = ::recv(file.get(), buffer.data(), buffer.size(), MSG_TRUNC);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) Fail(errno);
    if (static_cast<std::size_t>(count) > buffer.size()) Fail(EMSGSIZE);
    if (TakeDatagram({buffer.data(), static_cast<std::size_t>(count)}, sum)) return sum;
  }
}

}  // namespace ringside
