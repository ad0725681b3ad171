#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_SOCKETS_PACKET_SOCKET_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_SOCKETS_PACKET_SOCKET_H_

#include <cstddef>
#include <string>
#include <utility>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/file_descriptor.h"

namespace ringside {

/// Whether the process at the other end of a Unix domain socket runs as the same user. Every user
/// of the machine can connect to an abstract name.
bool IsOfThisUser(int file);

/// A Unix domain socket with an abstract name. It keeps packets separate. Owns its descriptor.
/// Thread-safe except for moves and `Close`.
class PacketSocket {
 public:
  /// The largest packet.
  static constexpr std::size_t kMaxBytes = 4096;

  enum class Outcome {
    kDone,
    kLater,   ///< It would have to wait, or the deadline has passed.
    kClosed,  ///< The other side has closed, or sent something that is not a packet.
  };

  PacketSocket() = default;
  /// Listens under `name`. `Listen` and `Connect` throw `CommError`.
  static PacketSocket Listen(const std::string& name);
  /// Tries again until the deadline while the listener has no room for a new connection.
  static PacketSocket Connect(const std::string& name, const Deadline& deadline);

  PacketSocket(PacketSocket&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  PacketSocket& operator=(PacketSocket&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  PacketSocket(const PacketSocket&) = delete;
  PacketSocket& operator=(const PacketSocket&) = delete;
  ~PacketSocket() { Close(); }

  bool open() const { return file_ >= 0; }
  int file() const { return file_; }
  bool SameUser() const { return IsOfThisUser(file_); }

  /// Accepts a connection. The result is not open when none is waiting, or when this process can
  /// have no further descriptor; then `lacks_room` becomes true, and the connection goes on
  /// waiting.
  PacketSocket Accept(bool& lacks_room) const;
  Outcome TrySend(const std::string& packet) const;
  Outcome TryReceive(std::string& packet) const;
  /// These two wait, and return `kLater` at the deadline.
  Outcome Send(const std::string& packet, const Deadline& deadline) const;
  Outcome Receive(std::string& packet, const Deadline& deadline) const;

  /// Ends sending: the other side can read what was sent, then gets `kClosed`.
  void FinishSending() const;
  /// Ends all waits immediately.
  void Shutdown() const;
  void Close();

 private:
  explicit PacketSocket(int file) : file_(file) {}
  bool Wait(short events, const Deadline& deadline) const;

  int file_ = -1;
};

/// Stream sockets with abstract names, which do not wait. `ConnectStream` tries again as
/// `PacketSocket::Connect` does; the caller closes the socket. Both throw `CommError`.
FileDescriptor ListenStream(const std::string& name);
int ConnectStream(const std::string& name, const Deadline& deadline);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_SOCKETS_PACKET_SOCKET_H_
