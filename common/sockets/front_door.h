#ifndef RINGSIDE_COMMON_SOCKETS_FRONT_DOOR_H_
#define RINGSIDE_COMMON_SOCKETS_FRONT_DOOR_H_

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "ringside/common/base/file_descriptor.h"
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

  struct Options {
    /// How many connections that were passed on may be open at a time. Connections beyond that are
    /// closed. 0: no limit, for an owner that has one.
    std::size_t most_admitted = 0;
  };

  /// Listens on an IP address. `port` 0: on any free one. Throws `CommError`, and `ResourceError`
  /// when there is no thread. The judge and `admit` run on the thread of the door.
  FrontDoor(const std::string& address, int port, WaitingRoom::Judge judge, Admit admit,
            const Options& options);
  /// Takes over a listener that does not wait. `endpoint` is for people.
  FrontDoor(FileDescriptor listener, std::string endpoint, WaitingRoom::Judge judge, Admit admit,
            const Options& options);
  /// Stops listening and ends the connections that were not passed on.
  ~FrontDoor();
  FrontDoor(const FrontDoor&) = delete;
  FrontDoor& operator=(const FrontDoor&) = delete;

  /// "127.0.0.1:41234", "[::1]:41234".
  const std::string& endpoint() const { return endpoint_; }

 private:
  /// A connection that has another owner now. Its descriptor may be closed at any time, and its
  /// number used again. The socket's inode tells that.
  struct Admitted {
    int file;
    ino_t socket;
  };

  void Run();
  /// Whether one more connection may be passed on.
  bool HasRoom();
  void PassOn(WaitingRoom::Visitor visitor);

  const Admit admit_;
  const std::size_t most_admitted_;
  std::vector<Admitted> admitted_;  // of the thread; empty where there is no limit
  WaitingRoom room_;                // of the thread
  const std::string endpoint_;
  const FileDescriptor stopped_;  // readable once stopped
  std::thread thread_;            // last: it uses everything above
};

/// The most connections of strangers: half of the descriptors that this process may have, and at
/// most 1,024, because what reads them takes memory for each.
std::size_t MostStrangers();

/// Judges that admit a connection that begins as every client of the protocol does. They wait for
/// the whole beginning, and leave the bytes to gRPC.
WaitingRoom::Judge BeginsAsHttp2();
WaitingRoom::Judge BeginsAsTls();

}  // namespace ringside

#endif  // RINGSIDE_COMMON_SOCKETS_FRONT_DOOR_H_
