#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_HANDSHAKE_SERVER_HANDSHAKE_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_HANDSHAKE_SERVER_HANDSHAKE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "ringside/common/core/deadline.h"
#include "ringside/common/security/handshake_mac.h"
#include "ringside/common/sockets/waiting_room.h"

namespace ringside {

/// The first bytes in both directions of a connection between a worker and a server (README.md).
/// Each side shows who it is, and proves that it knows the job's token. The token is not sent. A
/// value; it borrows nothing. Thread-safe.
///
/// In the proof the ranks of workers come first, then those of servers.
class ServerHandshake {
 public:
  /// What follows the greetings.
  enum class Protocol { kFrames, kGrpc };

  static constexpr std::size_t kBytes = 12 + kMacBytes;
  using Greeting = std::array<std::byte, kBytes>;

  ServerHandshake(Protocol protocol, const std::string& token, int workers, int servers);

  /// The worker's side: shows the worker's greeting and reads the server's. Throws `CommError` that
  /// names `server_name`.
  void Join(int file, int worker, int server, const std::string& server_name,
            const Deadline& deadline) const;
  /// The server's side: reads the greeting of a worker and returns the worker's rank. Throws
  /// `CommError` that names the address of the other side. The caller then closes the connection
  /// without an answer.
  int ReadWorker(int file, int server, const Deadline& deadline) const;
  /// The server's answer. Throws `CommError`.
  void Answer(int file, int server, int worker, const Deadline& deadline) const;
  /// The server's side for a visitor on whom nobody waits: reads what has come of the greeting, and
  /// answers a correct one.
  WaitingRoom::Verdict Judge(WaitingRoom::Visitor& visitor, int server) const;

  /// What either side sends.
  Greeting OfWorker(int worker, int server) const;
  Greeting OfServer(int server, int worker) const;

 private:
  Greeting Make(int index, int from, int to) const;
  /// What is wrong; empty: nothing.
  std::string FlawOf(const Greeting& greeting, int from, int to) const;
  /// The same for the greeting of a worker, whose rank it sets.
  std::string FlawOfWorker(const Greeting& greeting, int server, int& worker) const;
  int RankOfServer(int server) const { return workers_ + server; }

  const std::uint32_t magic_;
  const int workers_;
  const HandshakeMac mac_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_HANDSHAKE_SERVER_HANDSHAKE_H_
