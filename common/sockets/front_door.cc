#include "ringside/common/sockets/front_door.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "ringside/common/core/errors.h"
#include "ringside/common/sockets/tcp_socket.h"

namespace ringside {
namespace {

using Verdict = WaitingRoom::Verdict;
using Visitor = WaitingRoom::Visitor;

/// What every client of HTTP/2 sends first (RFC 9113, 3.4).
constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The record of a handshake, in any version of TLS (RFC 8446, 5.1).
constexpr std::string_view kTlsHandshake = "\x16\x03";
/// The share of the process's descriptors that silent connections may take: an eighth.
constexpr rlim_t kShare = 8;
constexpr rlim_t kFewest = 8;
constexpr rlim_t kMost = 128;

std::size_t MostVisitors() {
  rlimit limit{};
  // It fails only for a bad address. Then the fewest will do.
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = 0;
  return static_cast<std::size_t>(std::clamp(limit.rlim_cur / kShare, kFewest, kMost));
}

/// Looks at the first bytes and leaves them to gRPC.
Verdict JudgeStart(Visitor& visitor, std::string_view expected) {
  std::array<char, kPreface.size()> start{};
  const ssize_t count =
      recv(visitor.socket.get(), start.data(), expected.size(), MSG_PEEK | MSG_DONTWAIT);
  if (count < 0) {
    const bool later = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    return later ? Verdict::kLater : Verdict::kRefuse;
  }
  const std::string_view heard(start.data(), static_cast<std::size_t>(count));
  return !heard.empty() && expected.starts_with(heard) ? Verdict::kAdmit : Verdict::kRefuse;
}

}  // namespace

WaitingRoom::Judge BeginsAsHttp2() {
  return [](Visitor& visitor) { return JudgeStart(visitor, kPreface); };
}

WaitingRoom::Judge BeginsAsTls() {
  return [](Visitor& visitor) { return JudgeStart(visitor, kTlsHandshake); };
}

FrontDoor::FrontDoor(const std::string& address, int port, WaitingRoom::Judge judge, Admit admit)
    : admit_(std::move(admit)),
      room_(ListenOnTcp(address, port), std::move(judge), {.most = MostVisitors()}),
      endpoint_(TcpEndpointOf(room_.listener())),
      stopped_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (stopped_.get() < 0) throw CommError(address, "listening", std::strerror(errno));
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error& error) {
    throw CommError(address, "listening", error.what());
  }
}

FrontDoor::~FrontDoor() {
  // It fails only when the counter is full; then it is readable.
  static_cast<void>(eventfd_write(stopped_.get(), 1));
  thread_.join();
}

void FrontDoor::Run() {
  while (true) {
    std::vector<pollfd> entries{{.fd = stopped_.get(), .events = POLLIN, .revents = 0}};
    room_.AddTo(entries);
    const int longest = room_.empty() ? -1 : static_cast<int>(WaitingRoom::kTick.count());
    // If it fails, this thread looks at everything and comes back.
    static_cast<void>(poll(entries.data(), entries.size(), longest));
    if (entries.front().revents != 0) return;
    for (Visitor& visitor : room_.Take()) admit_(room_.listener(), std::move(visitor));
  }
}

}  // namespace ringside
