#ifndef RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_FRONT_DOOR_H_
#define RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_FRONT_DOOR_H_

#include <functional>
#include <string>
#include <thread>

#include "ringside/common/core/file_descriptor.h"
#include "ringside/common/sockets/waiting_room.h"

namespace ringside {

/// Accepts the connections of a coordinator over TCP, and passes on those that begin as HTTP/2 or
/// TLS does. gRPC itself would keep every connection that says nothing for some seconds. If these
/// used up all descriptors of the process, it would never accept another one. Here such connections
/// have a small share of the descriptors, and the one that came first leaves for the next.
///
/// Owns its thread.
class FrontDoor {
 public:
  /// Takes a connection that came through `listener`, on the thread of the door.
  using Admit = std::function<void(int listener, FileDescriptor socket)>;

  /// What every client sends first: HTTP/2 in the clear, or TLS around it.
  enum class Protocol { kHttp2, kTls };

  /// Listens on an IP address. `port` 0: on any free one. Throws `CommError`.
  FrontDoor(const std::string& address, int port, Protocol protocol, Admit admit);
  /// Stops listening and ends the connections that were not passed on.
  ~FrontDoor();
  FrontDoor(const FrontDoor&) = delete;
  FrontDoor& operator=(const FrontDoor&) = delete;

  /// "127.0.0.1:41234", "[::1]:41234".
  const std::string& endpoint() const { return endpoint_; }

 private:
  void Run();

  const Admit admit_;
  WaitingRoom room_;  // of the thread
  const std::string endpoint_;
  const FileDescriptor stopped_;  // readable once stopped
  std::thread thread_;            // last: it uses everything above
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_FRONT_DOOR_H_
