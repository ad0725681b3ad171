#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_GRPC_CONNECTION_WATCH_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_GRPC_CONNECTION_WATCH_H_

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/file_descriptor.h"

namespace ringside {

/// Looks at the sockets of gRPC's connections, and shuts each one down that the other side has
/// ended. gRPC 1.51 may miss that: an end that comes at the wrong moment, and any end while it
/// cannot write. It then waits until the call times out. What has arrived can still be read.
///
/// A socket is shut down several times, because each time gRPC is woken again. One thread serves
/// all connections of a process. Thread-safe.
class ConnectionWatch {
 public:
  /// The one of this process. It lives as long as somebody has it. Throws `std::system_error`.
  static std::shared_ptr<ConnectionWatch> Shared();

  ConnectionWatch();
  ~ConnectionWatch();
  ConnectionWatch(const ConnectionWatch&) = delete;
  ConnectionWatch& operator=(const ConnectionWatch&) = delete;

  /// Borrows the socket until `Remove`.
  void Add(int socket);
  /// When this returns, the socket is not shut down any more.
  void Remove(int socket);

 private:
  struct Watched {
    int socket;
    int times_shut = 0;
    Deadline::Clock::time_point next{};  // when it is shut down again, if it has been once
  };

  void Run();
  void Wake() const;
  /// Returns when the next socket is to be shut down again.
  Deadline::Clock::time_point ShutAgain(Deadline::Clock::time_point now);
  static void Shut(Watched& watched, Deadline::Clock::time_point now);

  const FileDescriptor wake_;  // an eventfd
  std::mutex mutex_;
  std::vector<Watched> watched_;  // guarded by the mutex
  bool ending_ = false;           // guarded by the mutex
  std::thread thread_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_GRPC_CONNECTION_WATCH_H_
