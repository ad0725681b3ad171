#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_HANDSHAKE_SERVER_HANDSHAKE_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_HANDSHAKE_SERVER_HANDSHAKE_H_

#include <cstdint>
#include <string>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/common/security/greeting.h"
#include "ringside/common/sockets/tcp_socket.h"
#include "ringside/common/sockets/waiting_room.h"

namespace ringside {

/// The first bytes in both directions of a connection between a worker and a server (README.md).
/// Each side shows who it is, and proves that it knows the members' token. The token is not sent. A
/// value; it borrows nothing. Thread-safe.
///
/// In the proof the ranks of workers come first, then those of servers.
class ServerHandshake {
 public:
  /// What follows the greetings.
  enum class Protocol { kFrames, kGrpc };

  ServerHandshake(Protocol protocol, const std::string& token, int workers, int servers);

  /// The worker's side: connects, shows the worker's greeting and reads the server's. A server that
  /// is crowded may close the connection before it has read the greeting, so the worker calls
  /// `kCalls` times. Throws `CommError` that names `server_name` or the endpoint.
  FileDescriptor Call(const std::string& endpoint, int worker, int server,
                      const std::string& server_name, const Deadline& deadline,
                      IfRefused if_refused = IfRefused::kTryAgain) const;
  static constexpr int kCalls = 4;
  /// The same on a connection that there is, without another call.
  void Join(int file, int worker, int server, const std::string& server_name,
            const Deadline& deadline) const;
  /// The server's side: reads what has come of a visitor's greeting, and answers a correct one.
  WaitingRoom::Verdict Judge(WaitingRoom::Visitor& visitor, int server) const;
  /// The same as a function for a `WaitingRoom`.
  WaitingRoom::Judge JudgeOf(int server) const;
  /// The rank of a worker that was admitted.
  static std::uint32_t WorkerOf(const WaitingRoom::Visitor& admitted);

  /// What either side sends.
  Greeting OfWorker(int worker, int server) const;
  Greeting OfServer(int server, int worker) const;

 private:
  /// Returns false when the server has closed the connection without an answer.
  bool Greet(int file, int worker, int server, const std::string& server_name,
             const Deadline& deadline) const;
  int RankOfServer(int server) const { return workers_ + server; }

  int workers_;
  Greeter greeter_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_HANDSHAKE_SERVER_HANDSHAKE_H_
