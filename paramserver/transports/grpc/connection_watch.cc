#include "ringside/paramserver/transports/grpc/connection_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace ringside {
namespace {

using Clock = Deadline::Clock;

// How long after each time a socket is shut down again. gRPC misses it only if it comes in a moment
// of some microseconds.
constexpr std::array<std::chrono::milliseconds, 4> kPauses{
    std::chrono::milliseconds{5}, std::chrono::milliseconds{50}, std::chrono::milliseconds{500},
    std::chrono::milliseconds{2000}};

FileDescriptor MakeEventFd() {
  FileDescriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (event.get() < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  return event;
}

bool HasEnded(int socket) {
  pollfd asked{.fd = socket, .events = POLLRDHUP, .revents = 0};
  return poll(&asked, 1, 0) > 0 && (asked.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

int Milliseconds(Clock::time_point until, Clock::time_point now) {
  if (until == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now);
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

}  // namespace

std::shared_ptr<ConnectionWatch> ConnectionWatch::Shared() {
  static std::mutex mutex;
  static std::weak_ptr<ConnectionWatch> shared;
  const std::lock_guard lock(mutex);
  std::shared_ptr<ConnectionWatch> watch = shared.lock();
  if (watch == nullptr) shared = watch = std::make_shared<ConnectionWatch>();
  return watch;
}

ConnectionWatch::ConnectionWatch() : wake_(MakeEventFd()), thread_([this] { Run(); }) {}

ConnectionWatch::~ConnectionWatch() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  Wake();
  thread_.join();
}

void ConnectionWatch::Add(int socket) {
  {
    const std::lock_guard lock(mutex_);
    watched_.push_back({.socket = socket});
  }
  Wake();
}

// The thread shuts sockets down under the mutex, and only those that are in the list.
void ConnectionWatch::Remove(int socket) {
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(watched_, [socket](const Watched& watched) { return watched.socket == socket; });
  }
  Wake();  // the kernel keeps a socket open while a thread polls it
}

void ConnectionWatch::Wake() const {
  // It fails only if the counter is full, and then the thread wakes up anyway.
  static_cast<void>(eventfd_write(wake_.get(), 1));
}

void ConnectionWatch::Run() {
  std::vector<pollfd> sockets;
  while (true) {
    Clock::time_point next;
    const Clock::time_point now = Clock::now();
    {
      const std::lock_guard lock(mutex_);
      if (ending_) return;
      next = ShutAgain(now);
      sockets.assign(1, {.fd = wake_.get(), .events = POLLIN, .revents = 0});
      for (const Watched& watched : watched_) {
        if (watched.times_shut > 0) continue;
        sockets.push_back({.fd = watched.socket, .events = POLLRDHUP, .revents = 0});
      }
    }
    // It fails only for a lack of memory, or by a signal. Then it is tried again.
    if (poll(sockets.data(), sockets.size(), Milliseconds(next, now)) <= 0) continue;
    eventfd_t count = 0;
    static_cast<void>(eventfd_read(wake_.get(), &count));  // it fails if nobody has written
    const std::lock_guard lock(mutex_);
    for (const pollfd& socket : sockets) {
      if (socket.revents == 0) continue;
      const auto found = std::ranges::find(watched_, socket.fd, &Watched::socket);
      // Since the poll, another socket may have got the number of one that was removed.
      if (found != watched_.end() && HasEnded(socket.fd)) Shut(*found, Clock::now());
    }
  }
}

Clock::time_point ConnectionWatch::ShutAgain(Clock::time_point now) {
  Clock::time_point next = Clock::time_point::max();
  for (Watched& watched : watched_) {
    if (watched.times_shut == 0) continue;
    if (watched.next <= now) Shut(watched, now);
    next = std::min(next, watched.next);
  }
  return next;
}

void ConnectionWatch::Shut(Watched& watched, Clock::time_point now) {
  // It fails where the connection has been reset, and wakes gRPC all the same.
  shutdown(watched.socket, SHUT_RDWR);
  const auto time = static_cast<std::size_t>(watched.times_shut++);
  watched.next = time < kPauses.size() ? now + kPauses[time] : Clock::time_point::max();
}

}  // namespace ringside
