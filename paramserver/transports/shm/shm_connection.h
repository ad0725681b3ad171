#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_SHM_SHM_CONNECTION_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_SHM_SHM_CONNECTION_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/memory_region.h"
#include "ringside/paramserver/server/shard_table.h"
#include "ringside/paramserver/transports/sockets/packet_socket.h"
#include "ringside/paramserver/wire/payload_pool.h"

namespace ringside {

class ShmHello;
class ShmReply;

/// A payload in memory that lives longer than the payload.
class BorrowedPayload : public Payload {
 public:
  std::span<const Piece> pieces() const override { return {&piece_, 1}; }
  void Assign(Piece bytes) { piece_ = bytes; }
  void Clear() { piece_ = {}; }

 private:
  Piece piece_;
};

/// What all connections of a listener share.
struct ShmShared {
  ShardTable& table;
  const std::string& token;
  int epoll = -1;
  std::uint64_t accepted = 0;            ///< Connections so far.
  std::atomic<std::uint64_t> moved = 0;  ///< Payload bytes written into workers' memory.
  std::shared_ptr<PayloadPool<BorrowedPayload>> payloads = PayloadPool<BorrowedPayload>::Make();
};

/// A server's connection to one worker over shared memory. Once the worker is admitted, the
/// connection is kept as long as the listener, even after the worker has gone: gradients that wait
/// for their turn are in the worker's memory.
///
/// Thread safety: any number of threads may use it.
class ShmConnection {
 public:
  /// `id` is what epoll reports for events of this connection. At the other end of `socket` is a
  /// process of the same user.
  ShmConnection(std::uint64_t id, PacketSocket socket, ShmShared& shared);
  ~ShmConnection();

  /// Serves the socket, which is ready for `events`.
  void Serve(std::uint32_t events);
  /// Drops waiting calls. The socket is closed when nothing uses the worker's memory any more.
  void Close();
  /// Closes the connection if the other side has not identified itself in time.
  void CloseIfSilent(Deadline::Clock::time_point now);
  /// Whether it is closed and no longer uses anything of a worker.
  bool forgettable() const;

 private:
  class Call;

  bool Enter();
  void Leave();
  void Receive();
  void Handle(Call& call);
  bool First();
  /// Returns an unused call for the next packet.
  Call& TakeFree();
  void GiveBack(Call& call);
  bool Admit(Call& call);
  void Greet(const ShmHello& hello);
  void Finish(Call& call);
  void Send(const ShmReply& reply, std::string& packet);
  void Flush();
  void Watch(std::uint32_t events);
  void AbandonCalls();

  const std::uint64_t id_;
  const Deadline hello_due_;
  PacketSocket socket_;
  ShmShared& shared_;
  MemoryRegion space_;
  mutable std::mutex mutex_;  // guards what follows; not held while the table is asked,
                              // except by Close
  bool met_ = false;          // a packet has come
  bool greeted_ = false;      // the worker may call
  bool closed_ = false;
  int users_ = 0;
  std::vector<std::unique_ptr<Call>> calls_;  // used again and again
  std::vector<Call*> free_calls_;             // room for all
  int under_way_ = 0;                         // calls that a worker waits for
  std::deque<std::string> unsent_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_SHM_SHM_CONNECTION_H_
