#include "ringside/ring/transports/gloo_pairs.h"

#include <fmt/format.h>
#include <gloo/transport/tcp/address.h>
#include <gloo/transport/tcp/context.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/tcp/pair.h>
#include <netdb.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <future>
#include <mutex>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/common/sockets/tcp_socket.h"

namespace ringside {
namespace {

namespace tcp = gloo::transport::tcp;

/// A function that a device's loop calls once. The loop handles no other event meanwhile.
class LoopCall : public tcp::Handler {
 public:
  explicit LoopCall(std::function<void()> body)
      : body_(std::move(body)), wake_(eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (wake_.get() < 0) throw ResourceError("an event of a device's loop", errno);
  }

  /// Returns when `body` has returned, and throws what it has thrown. `body` waits for nothing.
  void RunOn(tcp::Device& device) {
    device.registerDescriptor(wake_.get(), EPOLLIN, this);
    std::future<void> end = end_.get_future();
    end.wait();
    // Returns when the loop has left this object.
    device.unregisterDescriptor(wake_.get(), this);
    end.get();
  }

  void handleEvents(int) override {
    eventfd_t count = 0;
    // Without a count it has been called already.
    if (eventfd_read(wake_.get(), &count) != 0) return;
    try {
      body_();
      end_.set_value();
    } catch (...) {
      end_.set_exception(std::current_exception());
    }
  }

 private:
  const std::function<void()> body_;
  const FileDescriptor wake_;
  std::promise<void> end_;
};

/// A pair over a socket that is connected, waits, and has its timeouts.
class AdoptedPair : public tcp::Pair {
 public:
  /// On the thread of the device's loop. Gloo's constructor listens. While this thread is here, the
  /// loop accepts nothing there, and then nobody listens any more.
  AdoptedPair(tcp::Context& context, tcp::Device& device, int rank,
              std::chrono::milliseconds timeout, FileDescriptor socket)
      : Pair(&context, &device, rank, timeout) {
    const std::lock_guard lock(m_);
    device.unregisterDescriptor(fd_, this);
    const FileDescriptor listener(std::exchange(fd_, socket.Release()));
    peer_ = PeerOf(fd_);
    sync_ = true;
    Pair::changeState(CONNECTED);
  }

 private:
  /// Only for messages: no address, if the peer has gone.
  static tcp::Address PeerOf(int file) {
    sockaddr_storage peer{};
    socklen_t bytes = sizeof(peer);
    if (getpeername(file, reinterpret_cast<sockaddr*>(&peer), &bytes) != 0) peer = {};
    return tcp::Address(peer);
  }
};

/// The kernel rounds such a time up by as much as an eighth, because its timers become coarser with
/// their length. So a ninth less is asked for, and a silent peer is given up at most a ninth before
/// the limit, and never after it. A peer that sends a little at a time is slow, not silent: each of
/// its bytes begins the time anew.
void SetTimeouts(int file, std::chrono::milliseconds timeout) {
  const std::chrono::milliseconds asked = timeout - timeout / 9;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(asked);
  const std::chrono::microseconds rest = asked - seconds;
  const timeval value{.tv_sec = seconds.count(), .tv_usec = rest.count()};
  for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO}) {
    if (setsockopt(file, SOL_SOCKET, option, &value, sizeof(value)) == 0) continue;
    throw InternalError(fmt::format("the timeout of a socket: {}", std::strerror(errno)));
  }
}

}  // namespace

std::shared_ptr<tcp::Device> MakeGlooDevice(const std::string& address) {
  // Resolved without a name service: the name of this host may mean 127.0.1.1, which other hosts
  // cannot reach.
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.c_str(), nullptr, &hints, &found) != 0) {
    throw ConfigError(fmt::format("'{}' is no IP address to listen on", address));
  }
  freeaddrinfo(found);
  tcp::attr attributes;
  attributes.hostname = address;
  return std::static_pointer_cast<tcp::Device>(tcp::CreateDevice(attributes));
}

std::shared_ptr<gloo::transport::Context> MakeGlooPairs(const std::shared_ptr<tcp::Device>& device,
                                                        const GlooPairsOptions& options,
                                                        std::map<int, FileDescriptor> sockets) {
  for (const auto& [peer, socket] : sockets) {
    SetBlocking(socket.get());
    SetTimeouts(socket.get(), options.timeout);
  }
  const auto context =
      std::static_pointer_cast<tcp::Context>(device->createContext(options.rank, options.ranks));
  context->setTimeout(options.timeout);
  const auto make_pairs = [&] {
    for (auto& [peer, socket] : sockets) {
      context->getPair(peer) = std::make_unique<AdoptedPair>(*context, *device, peer,
                                                             options.timeout, std::move(socket));
    }
  };
  LoopCall(make_pairs).RunOn(*device);
  return context;
}

}  // namespace ringside
