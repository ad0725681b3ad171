#include "ringside/paramserver/transports/tcp/tcp_listener.h"

#include <chrono>
#include <cstddef>
#include <list>
#include <string>
#include <system_error>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/common/sockets/front_door.h"
#include "ringside/common/sockets/tcp_socket.h"
#include "ringside/paramserver/transports/handshake/server_handshake.h"
#include "ringside/paramserver/transports/tcp/tcp_connection.h"

namespace ringside {
namespace {

/// How long `Stop` waits until refusals have arrived, before it ends connections.
constexpr std::chrono::milliseconds kStopGrace{200};
constexpr std::size_t kUnsentBytes = 128UL << 10U;  // of a connection between hosts, in the kernel

class TcpListener : public Listener {
 public:
  TcpListener(const TransportEntry& self, const ServerContext& context, ShardTable& table);
  ~TcpListener() override { TcpListener::Stop(); }

  ServerAddress address() const override { return address_; }
  void Stop() override;
  std::size_t gradient_memory() const override { return shared_.payloads.memory(); }

 private:
  void Admit(WaitingRoom::Visitor visitor);

  TcpShared shared_;
  std::list<TcpConnection> connections_;  // of the door's thread, until there is no door
  std::unique_ptr<FrontDoor> door_;
  ServerAddress address_;
};

TcpListener::TcpListener(const TransportEntry& self, const ServerContext& context,
                         ShardTable& table)
    : shared_{.context = context, .table = table} {
  const ServerHandshake handshake(ServerHandshake::Protocol::kFrames, context.comm.token,
                                  context.workers, context.servers);
  const auto admit = [this](int, WaitingRoom::Visitor visitor) { Admit(std::move(visitor)); };
  try {
    door_ = std::make_unique<FrontDoor>(context.comm.address, 0, handshake.JudgeOf(context.index),
                                        admit, FrontDoor::Options());  // `Admit` counts
  } catch (const CommError& error) {
    throw CommError("server " + std::to_string(context.index),
                    "listening on " + context.comm.address, error.reason());
  }
  address_ = {&self, door_->endpoint()};
}

// All connections have the same time to end.
void TcpListener::Stop() {
  door_.reset();
  const Deadline deadline = Deadline::After(kStopGrace);
  for (TcpConnection& connection : connections_) connection.Finish(deadline);
  for (TcpConnection& connection : connections_) connection.AwaitEnd(deadline);
  connections_.clear();
}

void TcpListener::Admit(WaitingRoom::Visitor visitor) {
  connections_.remove_if([](const TcpConnection& connection) { return connection.ended(); });
  if (connections_.size() >= MostConnections(shared_.context.workers)) return;
  try {
    SetBlocking(visitor.socket.get());
    if (!IsWithinHost(visitor.socket.get())) LimitUnsent(visitor.socket.get(), kUnsentBytes);
    const std::uint32_t worker = ServerHandshake::WorkerOf(visitor);
    connections_.emplace_back(std::move(visitor.socket), worker, shared_);
    shared_.table.OnWorkerConnected(worker);
  } catch (const CommError&) {
    return;  // the socket cannot be set: the worker sees that its connection is closed
  } catch (const std::system_error&) {
    return;  // no room for a thread: likewise
  }
}

}  // namespace

std::unique_ptr<Listener> ListenTcp(const TransportEntry& self, const ServerContext& context,
                                    ShardTable& table) {
  return std::make_unique<TcpListener>(self, context, table);
}

}  // namespace ringside
