#include "ringside/paramserver/transports/sockets/packet_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

constexpr int kBacklog = 128;
constexpr std::chrono::milliseconds kRetryAfter{20};

struct Name {
  sockaddr_un address{};
  socklen_t bytes = 0;
};

// An abstract name begins with a zero byte. Its length marks its end.
Name AbstractName(const std::string& name) {
  Name result;
  result.address.sun_family = AF_UNIX;
  const std::size_t size = std::min(name.size(), sizeof(result.address.sun_path) - 1);
  std::copy_n(name.begin(), size, result.address.sun_path + 1);
  result.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
  return result;
}

[[noreturn]] void Throw(const std::string& name, const char* operation) {
  throw CommError("socket " + name, operation, std::strerror(errno));
}

int NewSocket(int type) { return socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

void ListenUnder(const std::string& name, int file) {
  const Name own = AbstractName(name);
  if (file < 0 || bind(file, reinterpret_cast<const sockaddr*>(&own.address), own.bytes) != 0 ||
      listen(file, kBacklog) != 0) {
    Throw(name, "listening");
  }
}

bool Later() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

// Returns false with errno set. A full backlog, as when many workers start together, soon has room
// again. A name without a listener does not come back.
bool ConnectUntil(const Deadline& deadline, int file, const std::string& name) {
  const Name theirs = AbstractName(name);
  while (connect(file, reinterpret_cast<const sockaddr*>(&theirs.address), theirs.bytes) != 0) {
    if (!Later() || deadline.expired()) return false;
    poll(nullptr, 0, static_cast<int>(std::min(kRetryAfter, deadline.remaining()).count()));
  }
  return true;
}

}  // namespace

PacketSocket PacketSocket::Listen(const std::string& name) {
  PacketSocket socket(NewSocket(SOCK_SEQPACKET));
  ListenUnder(name, socket.file_);
  return socket;
}

PacketSocket PacketSocket::Connect(const std::string& name, const Deadline& deadline) {
  PacketSocket socket(NewSocket(SOCK_SEQPACKET));
  if (!socket.open() || !ConnectUntil(deadline, socket.file_, name)) Throw(name, "connecting");
  return socket;
}

bool IsOfThisUser(int file) {
  ucred peer{};
  socklen_t bytes = sizeof(peer);
  return getsockopt(file, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == geteuid();
}

PacketSocket PacketSocket::Accept(bool& lacks_room) const {
  PacketSocket accepted(accept4(file_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  const int error = accepted.open() ? 0 : errno;
  lacks_room = error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
  return accepted;
}

PacketSocket::Outcome PacketSocket::TrySend(const std::string& packet) const {
  if (send(file_, packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) {
    return Outcome::kDone;
  }
  return Later() ? Outcome::kLater : Outcome::kClosed;
}

// If the other side closes with unread packets, a reset arrives before the packets that it sent.
// After the reset the remaining packets can be read.
PacketSocket::Outcome PacketSocket::TryReceive(std::string& packet) const {
  std::array<char, kMaxBytes> buffer;
  ssize_t size = recv(file_, buffer.data(), buffer.size(), MSG_TRUNC | MSG_DONTWAIT);
  if (size < 0 && errno == ECONNRESET) {
    size = recv(file_, buffer.data(), buffer.size(), MSG_TRUNC | MSG_DONTWAIT);
  }
  if (size < 0) return Later() ? Outcome::kLater : Outcome::kClosed;
  if (size == 0 || static_cast<std::size_t>(size) > buffer.size()) return Outcome::kClosed;
  packet.assign(buffer.data(), static_cast<std::size_t>(size));
  return Outcome::kDone;
}

PacketSocket::Outcome PacketSocket::Send(const std::string& packet,
                                         const Deadline& deadline) const {
  while (true) {
    const Outcome outcome = TrySend(packet);
    if (outcome != Outcome::kLater || !Wait(POLLOUT, deadline)) return outcome;
  }
}

PacketSocket::Outcome PacketSocket::Receive(std::string& packet, const Deadline& deadline) const {
  while (true) {
    const Outcome outcome = TryReceive(packet);
    if (outcome != Outcome::kLater || !Wait(POLLIN, deadline)) return outcome;
  }
}

bool PacketSocket::Wait(short events, const Deadline& deadline) const {
  pollfd entry{.fd = file_, .events = events, .revents = 0};
  // The caller tries again after a signal, too. It ends with the deadline.
  poll(&entry, 1, static_cast<int>(deadline.remaining().count()));
  return !deadline.expired();
}

FileDescriptor ListenStream(const std::string& name) {
  FileDescriptor file(NewSocket(SOCK_STREAM));
  ListenUnder(name, file.get());
  return file;
}

int ConnectStream(const std::string& name, const Deadline& deadline) {
  const int file = NewSocket(SOCK_STREAM);
  if (file < 0 || !ConnectUntil(deadline, file, name)) {
    const int error = errno;
    if (file >= 0) close(file);
    errno = error;
    Throw(name, "connecting");
  }
  return file;
}

void PacketSocket::FinishSending() const { shutdown(file_, SHUT_WR); }

void PacketSocket::Shutdown() const { shutdown(file_, SHUT_RDWR); }

void PacketSocket::Close() {
  if (file_ >= 0) close(file_);
  file_ = -1;
}

}  // namespace ringside
