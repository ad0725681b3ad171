#include "ringside/paramserver/transports/tcp/tcp_listener.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <list>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "ringside/common/core/errors.h"
#include "ringside/common/core/file_descriptor.h"
#include "ringside/common/sockets/tcp_socket.h"
#include "ringside/paramserver/transports/tcp/tcp_connection.h"

namespace ringside {
namespace {

/// How long `Stop` waits until refusals have arrived, before it ends connections.
constexpr std::chrono::milliseconds kStopGrace{200};
/// After this time the listener tries again when it could not accept a connection.
constexpr std::chrono::milliseconds kRetryAfter{20};
/// Connections that may be open without a proof of who they are. A worker needs milliseconds for
/// its proof, so the oldest of them is the one that least looks like a worker.
constexpr std::ptrdiff_t kMostStrangers = 256;
constexpr std::size_t kUnsentBytes = 128UL << 10U;  // of a connection between hosts, in the kernel

class TcpListener : public Listener {
 public:
  TcpListener(const TransportEntry& self, const ServerContext& context, ShardTable& table);
  ~TcpListener() override { TcpListener::Stop(); }

  ServerAddress address() const override { return address_; }
  void Stop() override;

 private:
  void Run();
  /// Waits for a connection, or for a moment if there is no room for one. False: the listener
  /// stops.
  bool AwaitConnection(bool may_accept) const;
  bool Accept();
  void Add(FileDescriptor socket);

  TcpShared shared_;
  const FileDescriptor socket_;
  const ServerAddress address_;
  const FileDescriptor stopped_;          // readable once stopped
  std::list<TcpConnection> connections_;  // of the acceptor, until it has ended
  std::jthread acceptor_;                 // last: it uses everything above
};

TcpListener::TcpListener(const TransportEntry& self, const ServerContext& context,
                         ShardTable& table)
    : shared_{.context = context,
              .table = table,
              .handshake = ServerHandshake(ServerHandshake::Protocol::kFrames, context.comm.token,
                                           context.workers, context.servers)},
      socket_(ListenOnTcp(context.comm.address)),
      address_{&self, TcpEndpointOf(socket_.get())},
      stopped_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  const std::string name = "server " + std::to_string(context.index);
  if (stopped_.get() < 0) throw CommError(name, "listening", std::strerror(errno));
  try {
    acceptor_ = std::jthread([this] { Run(); });
  } catch (const std::system_error& error) {
    throw CommError(name, "listening", error.what());
  }
}

// All connections have the same time to end.
void TcpListener::Stop() {
  // It fails only when the counter is full; then it is readable.
  static_cast<void>(eventfd_write(stopped_.get(), 1));
  acceptor_ = {};  // joins
  const Deadline deadline = Deadline::After(kStopGrace);
  for (TcpConnection& connection : connections_) connection.Finish(deadline);
  for (TcpConnection& connection : connections_) connection.AwaitEnd(deadline);
  connections_.clear();
}

void TcpListener::Run() {
  bool may_accept = true;
  while (AwaitConnection(may_accept)) may_accept = Accept();
}

bool TcpListener::AwaitConnection(bool may_accept) const {
  std::array<pollfd, 2> entries{{{.fd = stopped_.get(), .events = POLLIN, .revents = 0},
                                 {.fd = socket_.get(), .events = POLLIN, .revents = 0}}};
  const nfds_t watched = may_accept ? entries.size() : 1;
  const int longest = may_accept ? -1 : static_cast<int>(kRetryAfter.count());
  // If it fails, the caller tries to accept and comes back.
  static_cast<void>(poll(entries.data(), watched, longest));
  return entries.front().revents == 0;
}

/// Returns false when the process has no room for a connection now.
bool TcpListener::Accept() {
  FileDescriptor accepted(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (accepted.get() < 0) {
    // The others come from a connection that has ended already, or from poll.
    return errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM;
  }
  SetNoDelay(accepted.get());
  if (!IsWithinHost(accepted.get())) LimitUnsent(accepted.get(), kUnsentBytes);
  try {
    Add(std::move(accepted));
  } catch (const std::system_error&) {
    return false;  // no thread: the worker sees that its connection is closed
  }
  return true;
}

void TcpListener::Add(FileDescriptor socket) {
  connections_.remove_if([](const TcpConnection& connection) { return connection.ended(); });
  const auto is_stranger = [](const TcpConnection& connection) { return !connection.admitted(); };
  if (std::ranges::count_if(connections_, is_stranger) >= kMostStrangers) {
    connections_.erase(std::ranges::find_if(connections_, is_stranger));
  }
  connections_.emplace_back(std::move(socket), shared_);
}

}  // namespace

std::unique_ptr<Listener> ListenTcp(const TransportEntry& self, const ServerContext& context,
                                    ShardTable& table) {
  return std::make_unique<TcpListener>(self, context, table);
}

}  // namespace ringside
