#include "ringside/paramserver/transports/shm/shm_listener.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/paramserver/transports/shm/shm_connection.h"
#include "ringside/paramserver/transports/sockets/packet_socket.h"

namespace ringside {
namespace {

constexpr std::size_t kMaxConnections = 1024;  // at once, and of workers over the server's life

// The epoll ids of files that are not connections, and the first id of a connection.
constexpr std::uint64_t kAccept = 0, kStopped = 1, kFirstConnection = 2;

/// A descriptor that is closed on destruction.
class OwnedFile {
 public:
  explicit OwnedFile(int file) : file_(file) {}
  ~OwnedFile() {
    if (file_ >= 0) close(file_);
  }
  OwnedFile(const OwnedFile&) = delete;
  OwnedFile& operator=(const OwnedFile&) = delete;
  int get() const { return file_; }

 private:
  const int file_;
};

class ShmListener : public Listener {
 public:
  ShmListener(const TransportEntry& self, const ServerContext& context, ShardTable& table);
  ~ShmListener() override { ShmListener::Stop(); }

  ServerAddress address() const override { return address_; }
  void Stop() override;
  void CloseSilent(Deadline::Clock::time_point now) override;
  CopyCount copies() const override { return {.assigned = shared_.moved.load(), .added = 0}; }

 private:
  struct Served {
    Served(std::uint64_t id, PacketSocket socket, ShmShared& shared)
        : connection(id, std::move(socket), shared) {}

    ShmConnection connection;
    int users = 0;  // threads that serve it
  };

  void StartThreads();
  void Watch(int file, std::uint64_t id) const;
  void Run();
  void Serve(const epoll_event& event);
  void Accept();
  void Pause();
  /// Waits for these events of the listening socket.
  void Listen(std::uint32_t events) const;
  Served* Enter(std::uint64_t id);
  void Leave(std::uint64_t id, Served& served);

  const ServerAddress address_;
  const std::string name_;
  const OwnedFile epoll_{epoll_create1(EPOLL_CLOEXEC)};
  const OwnedFile stopped_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};  // readable once stopped
  ShmShared shared_;
  PacketSocket socket_;
  std::mutex mutex_;  // guards what follows and the users of connections, and ends socket_
  std::map<std::uint64_t, Served> connections_;  // by id
  bool paused_ = false;                          // nothing is accepted until the next look
  std::vector<std::jthread> threads_;
};

ShmListener::ShmListener(const TransportEntry& self, const ServerContext& context,
                         ShardTable& table)
    : address_(LocalAddress(self)),
      name_("server " + std::to_string(context.index)),
      shared_{.table = table, .token = context.comm.token, .epoll = epoll_.get()},
      socket_(PacketSocket::Listen(address_.address)) {
  if (epoll_.get() < 0 || stopped_.get() < 0) {
    throw CommError(name_, "listening", std::strerror(errno));
  }
  Watch(socket_.file(), kAccept);
  Watch(stopped_.get(), kStopped);
  StartThreads();
}

// With fewer threads than cores the server still works, only slower. Without any thread it does
// not.
void ShmListener::StartThreads() {
  const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  threads_.reserve(threads);
  try {
    while (threads_.size() < threads) threads_.emplace_back([this] { Run(); });
  } catch (const std::system_error& error) {
    if (threads_.empty()) {
      throw ResourceError("a thread that listens on " + name_, error.code().value());
    }
  }
}

void ShmListener::Stop() {
  // It fails only if the counter is full, that is, if Stop has been called before.
  eventfd_write(stopped_.get(), 1);
  threads_.clear();  // joins
  const std::lock_guard lock(mutex_);
  for (auto& [id, served] : connections_) served.connection.Close();
  socket_.Close();
}

void ShmListener::Watch(int file, std::uint64_t id) const {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = id}};
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, file, &event) != 0) {
    throw CommError(name_, "listening", std::strerror(errno));
  }
}

// Each thread serves one packet at a time, of any worker, so the threads share the work.
void ShmListener::Run() {
  while (true) {
    epoll_event event{};
    if (epoll_wait(epoll_.get(), &event, 1, -1) != 1) continue;
    if (event.data.u64 == kStopped) return;
    if (event.data.u64 == kAccept) {
      Accept();
    } else {
      Serve(event);
    }
  }
}

void ShmListener::Serve(const epoll_event& event) {
  Served* served = Enter(event.data.u64);
  if (served == nullptr) return;
  served->connection.Serve(event.events);
  Leave(event.data.u64, *served);
}

/// Returns null when the connection has gone because another thread noticed its end first.
ShmListener::Served* ShmListener::Enter(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = connections_.find(id);
  if (found == connections_.end()) return nullptr;
  ++found->second.users;
  return &found->second;
}

void ShmListener::Leave(std::uint64_t id, Served& served) {
  const std::lock_guard lock(mutex_);
  if (--served.users == 0 && served.connection.forgettable()) connections_.erase(id);
}

// Every user of the machine can connect, so another user's connection ends here.
void ShmListener::Accept() {
  bool lacks_room = false;
  PacketSocket accepted = socket_.Accept(lacks_room);
  if (lacks_room) return Pause();
  if (!accepted.open() || !accepted.SameUser()) return;
  const std::lock_guard lock(mutex_);
  if (connections_.size() >= kMaxConnections) return;
  const std::uint64_t id = kFirstConnection + shared_.accepted++;
  connections_.try_emplace(id, id, std::move(accepted), shared_);
}

// The listener stays readable, and every thread would try again at once.
void ShmListener::Pause() {
  const std::lock_guard lock(mutex_);
  paused_ = true;
  Listen(0);
}

void ShmListener::Listen(std::uint32_t events) const {
  epoll_event event{.events = events, .data = {.u64 = kAccept}};
  // It cannot fail: the socket is in the list, and is open.
  static_cast<void>(epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, socket_.file(), &event));
}

void ShmListener::CloseSilent(Deadline::Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (socket_.open() && std::exchange(paused_, false)) Listen(EPOLLIN);
  for (auto& [id, served] : connections_) served.connection.CloseIfSilent(now);
  std::erase_if(connections_, [](const auto& entry) {
    return entry.second.users == 0 && entry.second.connection.forgettable();
  });
}

}  // namespace

std::unique_ptr<Listener> ListenShm(const TransportEntry& self, const ServerContext& context,
                                    ShardTable& table) {
  return std::make_unique<ShmListener>(self, context, table);
}

}  // namespace ringside
