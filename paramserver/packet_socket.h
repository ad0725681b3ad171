#ifndef RINGSIDE_PARAMSERVER_PACKET_SOCKET_H_
#define RINGSIDE_PARAMSERVER_PACKET_SOCKET_H_

#include <cstddef>
#include <string>
#include <utility>

#include "common/deadline.h"

namespace ringside {

/// A Unix domain socket that keeps the borders of packets, under an abstract name. Owns its
/// descriptor. Thread-safe but for moving and `Close`.
class PacketSocket {
 public:
  /// The largest packet.
  static constexpr std::size_t kMaxBytes = 4096;

  enum class Outcome {
    kDone,
    kLater,   ///< Not now.
    kClosed,  ///< The other side has gone, or sends what is no packet.
  };

  PacketSocket() = default;
  /// Throw `CommError`.
  static PacketSocket Listen(const std::string& name);
  /// Tries again until the deadline while the listener has no room for another.
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
  /// The other end runs as this process's user.
  bool SameUser() const;

  /// None waiting: not open.
  PacketSocket Accept() const;
  Outcome TrySend(const std::string& packet) const;
  Outcome TryReceive(std::string& packet) const;
  /// Wait; `kLater` at the deadline.
  Outcome Send(const std::string& packet, const Deadline& deadline) const;
  Outcome Receive(std::string& packet, const Deadline& deadline) const;

  /// The other side reads to the end of what was sent, then `kClosed`.
  void FinishSending() const;
  /// Ends all waits at once.
  void Shutdown() const;
  void Close();

 private:
  explicit PacketSocket(int file) : file_(file) {}
  bool Wait(short events, const Deadline& deadline) const;

  int file_ = -1;
};

/// A non-blocking stream socket, connected to an abstract name as by `PacketSocket::Connect`; the
/// caller closes it. Throws `CommError`.
int ConnectStream(const std::string& name, const Deadline& deadline);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_PACKET_SOCKET_H_
