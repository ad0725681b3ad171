#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_TCP_TCP_CONNECTION_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_TCP_TCP_CONNECTION_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/paramserver/server/shard_table.h"
#include "ringside/paramserver/transports/core/object_pool.h"
#include "ringside/paramserver/transports/tcp/frame_stream.h"
#include "ringside/paramserver/transports/tcp/received_payloads.h"

namespace ringside {

/// What all connections of a listener share.
struct TcpShared {
  const ServerContext& context;
  ShardTable& table;
  ReceivedPayloads payloads{};
};

/// A server's connection to one worker. It has a thread that reads and serves requests, one after
/// the other. Another thread sends answers (`FrameStream`). Any thread may answer a push. A worker
/// that reads no answers gets no more of its requests read.
class TcpConnection {
 public:
  /// `socket` is connected and blocking; at its other end is `worker`, which has proved that.
  /// Throws `std::system_error` if there can be no thread.
  TcpConnection(FileDescriptor socket, std::uint32_t worker, TcpShared& shared);
  /// Ends the connection and withdraws its pushes from the table.
  ~TcpConnection();
  TcpConnection(const TcpConnection&) = delete;
  TcpConnection& operator=(const TcpConnection&) = delete;

  /// Sends the answers that are known. Then the worker reads the end.
  void Finish(const Deadline& deadline);
  /// Waits until the worker has closed its side, too.
  void AwaitEnd(const Deadline& deadline);
  /// Whether the worker has left.
  bool ended() const;

 private:
  class Reply;

  void Run();
  bool Serve(const FrameHeader& header);
  void Check(const FrameHeader& header) const;
  void Handle(const FrameHeader& header, PayloadPtr payload, Reply& reply);
  void HandleStart(const Payload& payload) const;
  ReceivedPayloads::Taken MemoryFor(const FrameHeader& header) const;
  /// Waits for room.
  Reply& MakeReply(const FrameHeader& header);
  void Answer(Reply& reply, const FrameHeader& header, std::span<const std::byte> payload);
  void StopWaiting(Reply& reply);
  void Forget(Reply& reply);
  void Abandon();

  TcpShared& shared_;
  const std::uint32_t worker_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<Reply*> waiting_;  // their answers are not known
  std::size_t replies_ = 0;      // waiting, or being sent
  bool ended_ = false;
  ObjectPool<Reply> reply_pool_;
  FrameStream stream_;
  std::jthread reader_;  // last: it uses everything above
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_TCP_TCP_CONNECTION_H_
