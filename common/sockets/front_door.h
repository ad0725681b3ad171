#ifndef RINGSIDE_COMMON_SOCKETS_FRONT_DOOR_H_
#define RINGSIDE_COMMON_SOCKETS_FRONT_DOOR_H_

#include <functional>
#include <string>
#include <thread>

#include "ringside/common/core/file_descriptor.h"
#include "ringside/common/sockets/waiting_room.h"

namespace ringside {

/// Accepts the TCP connections of a server, and passes on those that a judge admits. If connections
/// that say nothing used up all descriptors of the process, it would never accept another one. Here
/// they have a small share of the descriptors, and the one that came first leaves for the next.
/// gRPC itself would keep them for some seconds.
///
/// Owns its thread.
class FrontDoor {
 public:
  /// Takes a connection that came through `listener`. It has no other owner.
  using Admit = std::function<void(int listener, WaitingRoom::Visitor visitor)>;

  /// Listens on an IP address. `port` 0: on any free one. Throws `CommError`. The judge and `admit`
  /// run on the thread of the door.
  FrontDoor(const std::string& address, int port, WaitingRoom::Judge judge, Admit admit);
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

/// Judges that admit a connection whose first bytes are those of every client of the protocol. They
/// leave the bytes to gRPC.
WaitingRoom::Judge BeginsAsHttp2();
WaitingRoom::Judge BeginsAsTls();

}  // namespace ringside

#endif  // RINGSIDE_COMMON_SOCKETS_FRONT_DOOR_H_
