#include "ringside/experiments/job/links/link_probe.h"

#include <fmt/format.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/common/security/greeting.h"
#include "ringside/common/sockets/tcp_socket.h"
#include "ringside/common/sockets/waiting_room.h"

namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kMagic = 0x6c6e6b70;  // "pknl"
constexpr std::uint32_t kVersion = 1;
constexpr std::chrono::milliseconds kSettle{200};
constexpr std::chrono::milliseconds kTimed{500};
constexpr std::size_t kBufferBytes = 1 << 20;

std::string Key(const char* what, int host) { return fmt::format("links/{}/{}", what, host); }

int Hosts(const LinkProbe& probe) { return static_cast<int>(probe.hosts.size()); }

/// Waits for what the process of a host puts into the store. If it does not, that host is named,
/// and not the keeper of the store.
std::string Await(const LinkProbe& probe, Store& store, const char* what, int host,
                  const Deadline& deadline) {
  try {
    return store.Get(Key(what, host), deadline);
  } catch (const CommError&) {
    if (!deadline.expired()) throw;
    throw CommError(probe.hosts[static_cast<std::size_t>(host)], "measuring the links",
                    "its process did not do its part in time");
  }
}

/// Sends until the other end or the deadline ends it. The receiver measures.
class Sender {
 public:
  Sender(FileDescriptor socket, const Deadline& deadline)
      : socket_(std::move(socket)), thread_([this, deadline] { Send(deadline); }) {}
  ~Sender() {
    // Ends a call of `send` that waits. It fails where the other end has closed already.
    static_cast<void>(::shutdown(socket_.get(), SHUT_RDWR));
    thread_.join();
  }
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

 private:
  void Send(const Deadline& deadline) const {
    const std::vector<char> data(kBufferBytes);
    while (!deadline.expired()) {
      if (::send(socket_.get(), data.data(), data.size(), MSG_NOSIGNAL) < 0 && errno != EINTR)
        return;
    }
  }

  const FileDescriptor socket_;
  std::thread thread_;
};

/// Bytes that the kernel has received in order, whether a thread has read them or not. A thread
/// that waits for a processor reads late, and then much at once.
double ReceivedBytes(int socket) {
  tcp_info info{};
  socklen_t length = sizeof(info);
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) {
    throw CommError(kThisProcess, "reading the count of bytes", std::strerror(errno));
  }
  return static_cast<double>(info.tcpi_bytes_received);
}

/// The connections of one host to its neighbours.
class HostLinks {
 public:
  HostLinks(const LinkProbe& probe, Store& store, const Deadline& deadline)
      : probe_(probe),
        store_(store),
        deadline_(deadline),
        greeter_(kMagic, kVersion, HandshakeMac(probe.token, "links", Hosts(probe))) {}

  double Measure() {
    FileDescriptor listener = ListenOnTcp(probe_.address);
    store_.Set(Key("at", probe_.host), TcpEndpointOf(listener.get()));
    FileDescriptor outgoing = ConnectToNext();
    const FileDescriptor incoming = AcceptPrevious(std::move(listener));
    MeetAll("connected");
    const Sender sender(std::move(outgoing), deadline_);
    ReadFor(incoming.get(), kSettle);
    const double before = ReceivedBytes(incoming.get());
    const Clock::time_point begin = Clock::now();
    ReadFor(incoming.get(), kTimed);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const double rate = (ReceivedBytes(incoming.get()) - before) / seconds;
    // Nobody stops sending while another host still measures.
    MeetAll("measured");
    if (rate > 0) return rate;
    throw CommError(NameOf(PreviousHost()), "measuring the links", "no bytes came from it");
  }

 private:
  int NextHost() const { return (probe_.host + 1) % Hosts(probe_); }
  int PreviousHost() const { return (probe_.host + Hosts(probe_) - 1) % Hosts(probe_); }
  const std::string& NameOf(int host) const { return probe_.hosts[static_cast<std::size_t>(host)]; }

  void MeetAll(const char* what) {
    store_.Set(Key(what, probe_.host), "1");
    for (int host = 0; host < Hosts(probe_); ++host) Await(probe_, store_, what, host, deadline_);
  }

  FileDescriptor ConnectToNext() const {
    FileDescriptor socket(
        ConnectTcp(Await(probe_, store_, "at", NextHost(), deadline_), deadline_));
    const Greeting greeting =
        greeter_.Make(static_cast<std::uint32_t>(probe_.host), probe_.host, NextHost());
    if (!SendAll(socket.get(), greeting, deadline_)) {
      throw CommError(NameOf(NextHost()), "measuring the links", "it closed the connection");
    }
    SetBlocking(socket.get());
    return socket;
  }

  FileDescriptor AcceptPrevious(FileDescriptor listener) const {
    const auto judge = [this](WaitingRoom::Visitor& visitor) {
      const auto heard = WaitingRoom::Hear(visitor, kGreetingBytes);
      if (heard != WaitingRoom::Verdict::kAdmit) return heard;
      const auto greeting = std::span(visitor.heard).first<kGreetingBytes>();
      const bool right = greeter_.FlawOf(greeting, PreviousHost(), probe_.host).empty();
      return right ? WaitingRoom::Verdict::kAdmit : WaitingRoom::Verdict::kRefuse;
    };
    WaitingRoom room(std::move(listener), judge, {});
    while (!deadline_.expired()) {
      std::vector<pollfd> entries;
      room.AddTo(entries);
      // If it fails, this round was shorter.
      ::poll(entries.data(), entries.size(), static_cast<int>(WaitingRoom::kTick.count()));
      std::vector<WaitingRoom::Visitor> admitted = room.Take();
      if (!admitted.empty()) return std::move(admitted.front().socket);
    }
    throw CommError(NameOf(PreviousHost()), "measuring the links", "it did not connect in time");
  }

  /// Keeps the receive buffer empty, so that the sender is never stopped by this process.
  void ReadFor(int socket, std::chrono::milliseconds duration) const {
    const Deadline end = Deadline::After(duration);
    std::vector<char> data(kBufferBytes);
    while (!end.expired() && !deadline_.expired()) {
      pollfd readable{socket, POLLIN, 0};
      ::poll(&readable, 1, static_cast<int>(end.remaining().count()) + 1);
      const ssize_t count = ::recv(socket, data.data(), data.size(), MSG_DONTWAIT);
      if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) {
        throw CommError(NameOf(PreviousHost()), "measuring the links", "its connection has ended");
      }
    }
  }

  const LinkProbe& probe_;
  Store& store_;
  const Deadline deadline_;
  const Greeter greeter_;
};

}  // namespace

void MeasureLinks(const LinkProbe& probe, Store& store, const Deadline& deadline) {
  if (probe.measures) {
    const double rate = HostLinks(probe, store, deadline).Measure();
    store.Set(Key("rate", probe.host), fmt::format("{:.0f}", rate));
  }
  for (int host = 0; host < Hosts(probe); ++host) Await(probe, store, "rate", host, deadline);
}

std::optional<std::vector<double>> MeasuredLinks(
    int hosts, const std::function<std::optional<std::string>(const std::string& key)>& value) {
  std::vector<double> rates;
  for (int host = 0; host < hosts; ++host) {
    const std::optional<std::string> text = value(Key("rate", host));
    if (!text) return std::nullopt;
    rates.push_back(std::stod(*text));
  }
  return rates;
}

}  // namespace ringside
