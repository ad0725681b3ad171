#include "ringside/ring/transports/gloo_links.h"

#include <fmt/format.h>
#include <gloo/common/error.h>
#include <gloo/transport/address.h>
#include <gloo/transport/buffer.h>
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/device.h>
#include <netdb.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>

#include "ringside/common/core/deadline.h"
#include "ringside/common/core/errors.h"
#include "ringside/common/core/hex.h"
#include "ringside/common/security/handshake_mac.h"
#include "ringside/ring/transports/connect_watchdog.h"

namespace ringside {
namespace {

constexpr int kSlot = 0;  // one stream of messages per connection is enough

/// Points one of Gloo's buffers at other memory. Gloo makes a buffer for memory with a fixed
/// address. A new buffer for each message would allocate the buffer and a table entry each time.
/// The address is a protected member of `Buffer`, so this class derives from it.
class BufferTarget : public gloo::transport::Buffer {
 public:
  static void Set(gloo::transport::Buffer& buffer, void* data, std::size_t bytes) {
    buffer.*(&BufferTarget::ptr_) = data;
    buffer.*(&BufferTarget::size_) = bytes;
  }
};

/// A larger window gains nothing: this one keeps a link of 1 Gbit/s busy for 4 ms.
constexpr std::size_t kMostWindowBytes = 8 * Links::kSegmentBytes;

/// The window that a socket's send buffer can hold. A larger window keeps data flowing while a
/// thread waits for a core.
std::size_t WindowBytes() {
  std::size_t granted = 0;
  std::ifstream("/proc/sys/net/core/wmem_max") >> granted;
  const std::size_t segments = granted / Links::kSegmentBytes;
  return std::clamp(segments * Links::kSegmentBytes, Links::kLeastWindowBytes, kMostWindowBytes);
}

/// Gloo's messages start with its own source position, which tells a user nothing.
std::string Reason(const std::exception& error) {
  const std::string text = error.what();
  const auto end = text.find("] ");
  return text.starts_with('[') && end != std::string::npos ? text.substr(end + 2) : text;
}

std::shared_ptr<gloo::transport::Device> MakeDevice(const std::string& address) {
  // Resolved without a name service: the name of this host may mean 127.0.1.1, which other hosts
  // cannot reach.
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.c_str(), nullptr, &hints, &found) != 0) {
    throw ConfigError(fmt::format("'{}' is no IP address to listen on", address));
  }
  freeaddrinfo(found);
  gloo::transport::tcp::attr attributes;
  attributes.hostname = address;
  try {
    return gloo::transport::tcp::CreateDevice(attributes);
  } catch (const std::exception& error) {
    throw CommError("this host", "listening on " + address, Reason(error));
  }
}

class GlooLinks : public CountingLinks {
 public:
  /// `peers` without repetitions.
  GlooLinks(const GlooLinksOptions& options, std::span<const int> peers);

  std::string NameOf(int peer) const override {
    return fmt::format("worker {}", workers_[static_cast<std::size_t>(peer)]);
  }
  std::size_t window_bytes() const override { return window_bytes_; }
  void Send(int peer, std::span<const std::byte> data) override;
  void Receive(int peer, std::span<std::byte> data) override;
  const Traffic& traffic() const override { return traffic_; }

 private:
  /// The buffers for messages to and from a peer.
  struct Channel {
    std::unique_ptr<gloo::transport::Buffer> out;
    std::unique_ptr<gloo::transport::Buffer> in;
  };

  gloo::transport::Pair& PairOf(int peer) { return *context_->getPair(peer); }
  void Publish(const GlooLinksOptions& options, std::span<const int> peers);
  /// Returns when all ranks have published their addresses.
  void AwaitAll(const GlooLinksOptions& options, const Deadline& deadline) const;
  void Connect(const GlooLinksOptions& options, std::span<const int> peers);
  void ConnectTo(int peer, const GlooLinksOptions& options, const Deadline& published,
                 const Deadline& connected);
  void Authenticate(const GlooLinksOptions& options, std::span<const int> peers);

  const std::vector<int> workers_;  // by rank
  const std::size_t window_bytes_;
  // In the order in which they depend on each other: destruction goes the other way.
  std::shared_ptr<gloo::transport::Device> device_;
  std::shared_ptr<gloo::transport::Context> context_;
  std::vector<Channel> channels_;  // by rank; empty for ranks that are no peers
  Traffic traffic_;
};

GlooLinks::GlooLinks(const GlooLinksOptions& options, std::span<const int> peers)
    : workers_(options.workers.begin(), options.workers.end()),
      window_bytes_(WindowBytes()),
      device_(MakeDevice(options.comm.address)),
      context_(device_->createContext(options.world.rank, options.world.workers)) {
  context_->setTimeout(options.comm.timeout);
  Connect(options, peers);
  Authenticate(options, peers);
  traffic_ = {};
}

void GlooLinks::Publish(const GlooLinksOptions& options, std::span<const int> peers) {
  for (const int peer : peers) {
    const auto address = context_->createPair(peer)->address().bytes();
    options.store.Set(fmt::format("{}/{}-{}", options.prefix, options.world.rank, peer),
                      ToHex(std::as_bytes(std::span(address))));
  }
}

// `StoreAllGather` would name ranks of these links, not workers of the job.
void GlooLinks::AwaitAll(const GlooLinksOptions& options, const Deadline& deadline) const {
  const std::string name = options.prefix + "/published";
  const auto key = [&](int rank) { return fmt::format("exchange/{}/{}", name, rank); };
  options.store.Set(key(options.world.rank), "");
  for (int rank = 0; rank < options.world.workers; ++rank) {
    try {
      options.store.Get(key(rank), deadline);
    } catch (const CommError& error) {
      throw CommError(NameOf(rank), "exchange of " + name, error.what());
    }
  }
}

void GlooLinks::ConnectTo(int peer, const GlooLinksOptions& options, const Deadline& published,
                          const Deadline& connected) {
  const std::string key = fmt::format("{}/{}-{}", options.prefix, peer, options.world.rank);
  const std::vector<std::byte> bytes = FromHex(options.store.Get(key, published));
  const auto* chars = reinterpret_cast<const char*>(bytes.data());
  const ConnectWatchdog watchdog(connected, [&] { PairOf(peer).close(); });
  PairOf(peer).connect({chars, chars + bytes.size()});
  if (connected.expired()) throw InternalError("it did not connect in time");
}

void GlooLinks::Connect(const GlooLinksOptions& options, std::span<const int> peers) {
  Publish(options, peers);
  // Gloo limits a connect by the operation timeout. So connect only when all processes are there.
  const Deadline published = Deadline::After(options.comm.rendezvous_timeout());
  AwaitAll(options, published);
  const Deadline connected = Deadline::After(options.comm.timeout);
  for (const int peer : peers) {
    try {
      ConnectTo(peer, options, published, connected);
    } catch (const std::exception& error) {
      throw CommError(NameOf(peer), "connecting", Reason(error));
    }
  }
  channels_.resize(static_cast<std::size_t>(options.world.workers));
  for (const int peer : peers) {
    PairOf(peer).setSync(true, false);
    channels_[static_cast<std::size_t>(peer)] = {PairOf(peer).createSendBuffer(kSlot, nullptr, 0),
                                                 PairOf(peer).createRecvBuffer(kSlot, nullptr, 0)};
  }
}

void GlooLinks::Authenticate(const GlooLinksOptions& options, std::span<const int> peers) {
  // As long as a window. Gloo sizes a socket's send buffer by the largest message that it has sent,
  // and the algorithms need the room of a window.
  std::vector<std::byte> message(kMostWindowBytes);
  const auto head = std::span(message).first<kMacBytes>();
  const HandshakeMac proof(options.comm.token, options.prefix, options.world.workers);
  for (const int peer : peers) {
    std::ranges::copy(proof.Make(options.world.rank, peer), head.begin());
    Send(peer, std::span(message).first(window_bytes_));
  }
  for (const int peer : peers) {
    Receive(peer, message);  // the peer's window may have another size
    if (proof.Check(head, peer, options.world.rank)) continue;
    throw CommError(NameOf(peer), "the handshake", "it does not know the token of this job");
  }
}

void GlooLinks::Send(int peer, std::span<const std::byte> data) {
  try {
    gloo::transport::Buffer& buffer = *channels_[static_cast<std::size_t>(peer)].out;
    // Gloo's sending side never writes, though its interface asks for a mutable pointer.
    BufferTarget::Set(buffer, const_cast<std::byte*>(data.data()), data.size());
    buffer.send(0, data.size());
    buffer.waitSend();  // does not block: `send` has sent all; this takes it off Gloo's count
    traffic_.sent += data.size();
  } catch (const std::exception& error) {
    throw CommError(NameOf(peer), "sending", Reason(error));
  }
}

void GlooLinks::Receive(int peer, std::span<std::byte> data) {
  try {
    gloo::transport::Buffer& buffer = *channels_[static_cast<std::size_t>(peer)].in;
    BufferTarget::Set(buffer, data.data(), data.size());
    buffer.waitRecv();
    traffic_.received += data.size();
  } catch (const std::exception& error) {
    throw CommError(NameOf(peer), "receiving", Reason(error));
  }
}

}  // namespace

std::unique_ptr<CountingLinks> ConnectGloo(const GlooLinksOptions& options) {
  auto peers = options.peers;
  std::ranges::sort(peers);
  const auto repeated = std::ranges::unique(peers);
  peers.erase(repeated.begin(), repeated.end());
  return std::make_unique<GlooLinks>(options, peers);
}

}  // namespace ringside
