#include "ringside/common/sockets/front_door.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "ringside/common/base/errors.h"
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
constexpr rlim_t kMostStrangers = 1024;

rlim_t Descriptors() {
  rlimit limit{};
  // It fails only for a bad address. Then the fewest connections will do.
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = 0;
  return limit.rlim_cur;
}

std::size_t MostVisitors() {
  return static_cast<std::size_t>(std::clamp(Descriptors() / kShare, kFewest, kMost));
}

/// The fewest bytes at which poll says that there is something to read.
void WakeAt(int file, std::size_t bytes) {
  const int fewest = static_cast<int>(bytes);
  // It cannot fail on a connected socket.
  static_cast<void>(setsockopt(file, SOL_SOCKET, SO_RCVLOWAT, &fewest, sizeof(fewest)));
}

/// Whether the other end has closed, or will send nothing more.
bool SaysNoMore(int file) {
  pollfd entry{.fd = file, .events = POLLRDHUP, .revents = 0};
  // If it fails, the connection is there until its time is over.
  return poll(&entry, 1, 0) > 0;
}

/// Looks at the first bytes and leaves them to gRPC.
Verdict JudgeStart(Visitor& visitor, std::string_view expected) {
  std::array<char, kPreface.size()> start{};
  const int file = visitor.socket.get();
  const ssize_t count = recv(file, start.data(), expected.size(), MSG_PEEK | MSG_DONTWAIT);
  if (count < 0) {
    const bool later = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    return later ? Verdict::kLater : Verdict::kRefuse;
  }
  const std::string_view heard(start.data(), static_cast<std::size_t>(count));
  if (heard.empty() || !expected.starts_with(heard)) return Verdict::kRefuse;
  const bool complete = heard.size() == expected.size();
  if (!complete && SaysNoMore(file)) return Verdict::kRefuse;
  // The bytes that wait must not wake the door again and again.
  WakeAt(file, complete ? 1 : expected.size());
  return complete ? Verdict::kAdmit : Verdict::kLater;
}

/// The inode of the socket that the descriptor stands for; 0: of none.
ino_t SocketOf(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 && S_ISSOCK(status.st_mode) ? status.st_ino : 0;
}

}  // namespace

WaitingRoom::Judge BeginsAsHttp2() {
  return [](Visitor& visitor) { return JudgeStart(visitor, kPreface); };
}

WaitingRoom::Judge BeginsAsTls() {
  return [](Visitor& visitor) { return JudgeStart(visitor, kTlsHandshake); };
}

std::size_t MostStrangers() {
  return static_cast<std::size_t>(std::clamp(Descriptors() / 2, kFewest, kMostStrangers));
}

FrontDoor::FrontDoor(const std::string& address, int port, WaitingRoom::Judge judge, Admit admit,
                     const Options& options)
    : FrontDoor(ListenOnTcp(address, port), "", std::move(judge), std::move(admit), options) {}

FrontDoor::FrontDoor(FileDescriptor listener, std::string endpoint, WaitingRoom::Judge judge,
                     Admit admit, const Options& options)
    : admit_(std::move(admit)),
      most_admitted_(options.most_admitted),
      room_(std::move(listener), std::move(judge), {.most = MostVisitors()}),
      endpoint_(endpoint.empty() ? TcpEndpointOf(room_.listener()) : std::move(endpoint)),
      stopped_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (stopped_.get() < 0) throw ResourceError("an event of " + endpoint_, errno);
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error& error) {
    throw ResourceError("a thread that listens on " + endpoint_, error.code().value());
  }
}

FrontDoor::~FrontDoor() {
  // It fails only when the counter is full; then it is readable.
  static_cast<void>(eventfd_write(stopped_.get(), 1));
  thread_.join();
}

// This thread may come back here late, when what it has admitted has worked for a while. A step
// then must not see an allocation, so there is room for all entries from the start.
void FrontDoor::Run() {
  std::vector<pollfd> entries;
  entries.reserve(MostVisitors() + 2);
  while (true) {
    entries.assign(1, {.fd = stopped_.get(), .events = POLLIN, .revents = 0});
    room_.AddTo(entries);
    const int longest = room_.empty() ? -1 : static_cast<int>(WaitingRoom::kTick.count());
    // If it fails, this thread looks at everything and comes back.
    static_cast<void>(poll(entries.data(), entries.size(), longest));
    if (entries.front().revents != 0) return;
    for (Visitor& visitor : room_.Take()) PassOn(std::move(visitor));
  }
}

bool FrontDoor::HasRoom() {
  std::erase_if(admitted_, [](const Admitted& one) { return SocketOf(one.file) != one.socket; });
  return admitted_.size() < most_admitted_;
}

void FrontDoor::PassOn(Visitor visitor) {
  if (most_admitted_ > 0) {
    if (!HasRoom()) return;  // Its connection ends. A client of gRPC tries again.
    const int file = visitor.socket.get();
    admitted_.push_back({.file = file, .socket = SocketOf(file)});
  }
  admit_(room_.listener(), std::move(visitor));
}

}  // namespace ringside
