#ifndef RINGSIDE_TESTS_PARAMSERVER_TRANSPORTS_TCP_RAW_CONNECTION_H_
#define RINGSIDE_TESTS_PARAMSERVER_TRANSPORTS_TCP_RAW_CONNECTION_H_

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ringside/common/base/file_descriptor.h"
#include "ringside/common/sockets/tcp_socket.h"
#include "ringside/paramserver/wire/wire.h"

namespace ringside {

/// A frame as it came, or the end of the connection.
struct RawFrame {
  FrameHeader header;
  std::vector<std::byte> payload;
};

/// One end of a TCP connection that sends any bytes. All waits end after 30 s.
class RawConnection {
 public:
  explicit RawConnection(FileDescriptor socket) : socket_(std::move(socket)) {}
  /// Connects.
  explicit RawConnection(const std::string& endpoint) : socket_(ConnectTcp(endpoint, Later())) {}

  int file() const { return socket_.get(); }
  void Close() { socket_.Close(); }
  /// The other side may have reset the connection by then.
  void FinishSending() {
    const int error = shutdown(socket_.get(), SHUT_WR) == 0 ? 0 : errno;
    EXPECT_TRUE(error == 0 || error == ENOTCONN) << std::strerror(error);
  }

  /// False: the other side has closed.
  bool Send(std::span<const std::byte> bytes) { return SendAll(socket_.get(), bytes, Later()); }
  /// The header says how long the payload is, unless it says something else already.
  bool Send(FrameHeader header, std::span<const std::byte> payload) {
    if (header.payload_bytes == 0) header.payload_bytes = payload.size();
    return Send(EncodeHeader(header)) && Send(payload);
  }

  /// Nothing: the other side has closed.
  std::optional<RawFrame> Receive() {
    std::array<std::byte, FrameHeader::kBytes> bytes{};
    if (!ReceiveAll(socket_.get(), bytes, Later())) return std::nullopt;
    RawFrame frame;
    EXPECT_EQ(DecodeHeader(bytes, frame.header), FrameError::kNone);
    frame.payload.resize(frame.header.payload_bytes);
    EXPECT_TRUE(ReceiveAll(socket_.get(), frame.payload, Later()));
    return frame;
  }
  /// Whether the other side closes the connection, without a byte before.
  bool AwaitEnd() {
    std::byte byte{};
    const Deadline deadline = Later();
    return !ReceiveAll(socket_.get(), {&byte, 1}, deadline) && !deadline.expired();
  }

  static Deadline Later() { return Deadline::After(std::chrono::seconds(30)); }

 private:
  FileDescriptor socket_;
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_PARAMSERVER_TRANSPORTS_TCP_RAW_CONNECTION_H_
