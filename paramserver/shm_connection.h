#ifndef RINGSIDE_PARAMSERVER_SHM_CONNECTION_H_
#define RINGSIDE_PARAMSERVER_SHM_CONNECTION_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "common/deadline.h"
#include "common/memory_region.h"
#include "paramserver/packet_socket.h"
#include "paramserver/shard_table.h"

namespace ringside {

class ShmHello;
class ShmReply;

/// What all connections of a `ShmListener` share.
struct ShmShared {
  ShardTable& table;
  const std::string& token;
  int epoll = -1;
  std::uint64_t accepted = 0;            ///< Connections so far.
  std::atomic<std::uint64_t> moved = 0;  ///< Payload bytes written into workers' memory.
};

/// A worker's connection to a server behind shared memory. Once the worker has been let in it is
/// kept until the listener goes, also when the worker has gone: gradients that wait for their turn
/// lie in the worker's space.
///
/// Thread safety: any number of threads at once.
class ShmConnection {
 public:
  /// `id`: what epoll says when there is something to serve.
  ShmConnection(std::uint64_t id, PacketSocket socket, ShmShared& shared);
  ~ShmConnection();

  /// The socket is ready for `events`.
  void Serve(std::uint32_t events);
  /// Forgets what waits; the socket is closed when the last user of the worker's memory is done.
  void Close();
  /// Closes when the other side has had until now to say who it is, and has not.
  void CloseIfSilent(Deadline::Clock::time_point now);
  /// It is closed and nothing of a worker is kept here.
  bool forgettable() const;

 private:
  class Call;

  bool Enter();
  void Leave();
  void Receive();
  void Take(const std::string& packet);
  bool First();
  Call* Add(std::unique_ptr<Call> call);
  void Greet(const ShmHello& hello);
  void Finish(Call& call, const ShmReply& reply);
  void Send(const ShmReply& reply);
  void Flush();
  void Watch(std::uint32_t events);
  void AbandonCalls();

  const std::uint64_t id_;
  const Deadline hello_due_;
  PacketSocket socket_;
  ShmShared& shared_;
  MemoryRegion space_;
  mutable std::mutex mutex_;  // guards what follows; never held while the table is asked, but by
                              // Close
  bool met_ = false;          // a packet has come
  bool greeted_ = false;      // the worker may call
  bool closed_ = false;
  int users_ = 0;
  std::map<Call*, std::unique_ptr<Call>> calls_;
  std::deque<std::string> unsent_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_SHM_CONNECTION_H_
